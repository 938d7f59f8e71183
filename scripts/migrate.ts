import { parseArgs } from 'node:util'
import { z } from 'zod'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { migrationStatus, undoLast } from '#infra/migrate.ts'
import { parseConfig, postgresFields, registryFields } from '#runtime/config.ts'
import { messageOf } from '#runtime/errors.ts'
import { prepareParts } from './stack/prepare-parts.ts'
import { runCommand } from './stack/run-command.ts'

const { DATABASE_URL, DATABASE_SSL_CA } = postgresFields
// `prepareParts` parses what concerns Kafka itself.
const schema = z.object({ ...registryFields, DATABASE_URL, DATABASE_SSL_CA, KAFKA_BROKERS: z.string() })

const usage = `scripts/migrate [--status | --undo-last]

Brings the database, the topics and the schemas up to date with what the environment names.
--status lists the database's migrations; --undo-last undoes the last, with what its tables held.`

function readArguments() {
  try {
    return parseArgs({
      options: {
        status: { type: 'boolean' },
        'undo-last': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    throw new CannotStart(`${messageOf(error)}\n\n${usage}`)
  }
}

async function run(): Promise<void> {
  const values = readArguments()
  if (values.help === true) {
    console.log(usage)
    return
  }
  const parsed = parseConfig(schema, process.env)
  if (!parsed.ok) throw new CannotStart(`the configuration is wrong\n${parsed.problems.join('\n')}`)
  const { DATABASE_URL: url, DATABASE_SSL_CA: authority } = parsed.value
  if (values['undo-last'] === true) {
    const undone = await undoLast(url, authority)
    console.log(undone === undefined ? 'nothing is applied' : `undone   ${undone}, with what its tables held`)
    return
  }
  if (values.status !== true) {
    await prepareParts(parsed.value, process.env, console.log)
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
