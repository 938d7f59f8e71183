import { checkTopics } from '#infra/check-topics.ts'
import { migrationStatus, undoLast } from '#infra/migrate.ts'
import { topicSettingsOf } from '#infra/topic-settings.ts'
import { findSystem, type System } from './examine/find-system.ts'
import { prepareParts } from './stack/prepare-parts.ts'
import { parseOptions } from './stack/read-options.ts'
import { runCommand } from './stack/run-command.ts'

const usage = `scripts/migrate [--check-topics-only | --status | --undo-last] [--state DIR]

Brings the database, the topics and the schemas up to date.

  --check-topics-only  for topics that someone else creates: compares them with the requirements instead of
                       creating or changing them, and prints one line per problem. With a problem the exit
                       code is 1 and nothing is brought up to date
  --status             lists the database's migrations
  --undo-last          undoes the last migration, and deletes its tables' data
  --state DIR          a stack that scripts/up started (.sluice); KAFKA_BROKERS, SCHEMA_REGISTRY_URL and
                       DATABASE_URL take its place`

function readArguments() {
  return parseOptions(usage, {
    options: {
      'check-topics-only': { type: 'boolean' },
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
  const system = await findSystem({ state: values.state, operations: [] }, process.env)
  const { config, environment } = system
  const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL, DATABASE_URL: url, DATABASE_SSL_CA: authority } = config
  if (values['undo-last'] === true) {
    const undone = await undoLast(url, authority)
    console.log(undone === undefined ? 'nothing is applied' : `undone   ${undone}, with what its tables held`)
    return
  }
  if (values.status !== true) {
    const checksOnly = values['check-topics-only'] === true
    if (checksOnly && !(await areTopicsAsNeeded(system))) return
    const addresses = { KAFKA_BROKERS: KAFKA_BROKERS.join(), SCHEMA_REGISTRY_URL, DATABASE_URL: url }
    await prepareParts(addresses, environment, console.log, checksOnly)
    console.log(
      `${checksOnly ? 'topics are as needed, database' : 'database, topics'} and schemas are up to date`,
    )
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

/** Otherwise prints what is wrong and sets the exit code. */
async function areTopicsAsNeeded({ kafka, config }: System): Promise<boolean> {
  const wrong = await checkTopics(kafka, config.TOPIC_PREFIX, topicSettingsOf(config))
  for (const line of wrong) console.log(line)
  if (wrong.length > 0) process.exitCode = 1
  return wrong.length === 0
}

await runCommand(run)
