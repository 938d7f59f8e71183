import { parseArgs } from 'node:util'
import { z } from 'zod'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { migrationStatus, undoLast } from '#infra/migrate.ts'
import { parseConfig, registryFields } from '#runtime/config.ts'
import { prepareParts } from './stack/prepare-parts.ts'

// `prepareParts` parses what concerns Kafka itself.
const schema = z.object({ ...registryFields, DATABASE_URL: z.url(), KAFKA_BROKERS: z.string() })

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: { status: { type: 'boolean' }, 'undo-last': { type: 'boolean' } },
  })
  const parsed = parseConfig(schema, process.env)
  if (!parsed.ok) throw new CannotStart(`the configuration is wrong\n${parsed.problems.join('\n')}`)
  if (values['undo-last'] === true) {
    const undone = await undoLast(parsed.value.DATABASE_URL)
    console.log(undone === undefined ? 'nothing is applied' : `undone   ${undone}, with what its tables held`)
    return
  }
  if (values.status !== true) {
    await prepareParts(parsed.value, process.env, console.log)
    console.log('database, topics and schemas are up to date')
    return
  }
  const { applied, pending } = await migrationStatus(parsed.value.DATABASE_URL)
  console.log(
    [...applied.map((name) => `applied  ${name}`), ...pending.map((name) => `pending  ${name}`)].join('\n'),
  )
}

try {
  await run()
} catch (error) {
  if (!(error instanceof CannotStart)) throw error
  console.error(`sluice: ${error.message}`)
  process.exitCode = 2
}
