import { migrationStatus, undoLast } from '#infra/migrate.ts'
import { findSystem } from './examine/find-system.ts'
import { prepareParts } from './stack/prepare-parts.ts'
import { parseOptions } from './stack/read-options.ts'
import { runCommand } from './stack/run-command.ts'

const usage = `scripts/migrate [--status | --undo-last] [--state DIR]

Brings the database, the topics and the schemas up to date.

  --status      lists the database's migrations
  --undo-last   undoes the last, with what its tables held
  --state DIR   a stack that scripts/up started (.sluice); KAFKA_BROKERS, SCHEMA_REGISTRY_URL and DATABASE_URL take its place`

function readArguments() {
  return parseOptions(usage, {
    options: {
      status: { type: 'boolean' },
      'undo-last': { type: 'boolean' },
      state: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  }).values
}

async function run(): Promise<void> {
  const values = readArguments()
  if (values.help === true) {
    console.log(usage)
    return
  }
  const { config, environment } = await findSystem({ state: values.state, operations: [] }, process.env)
  const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL, DATABASE_URL: url, DATABASE_SSL_CA: authority } = config
  if (values['undo-last'] === true) {
    const undone = await undoLast(url, authority)
    console.log(undone === undefined ? 'nothing is applied' : `undone   ${undone}, with what its tables held`)
    return
  }
  if (values.status !== true) {
    const addresses = { KAFKA_BROKERS: KAFKA_BROKERS.join(), SCHEMA_REGISTRY_URL, DATABASE_URL: url }
    await prepareParts(addresses, environment, console.log)
    console.log('database, topics and schemas are up to date')
    return
  }
  const { applied, newer, pending } = await migrationStatus(url, authority)
  const lines = [
    ...applied.map((name) => `applied  ${name}`),
    ...newer.map((name) => `newer    ${name}, of a newer version`),
    ...pending.map((name) => `pending  ${name}`),
  ]
  console.log(lines.join('\n'))
}

await runCommand(run)
