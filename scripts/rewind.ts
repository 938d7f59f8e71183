import { Client } from 'pg'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { SluiceError } from '#runtime/errors.ts'
import { createRegistryCodec } from '#runtime/kafka/registry-codec.ts'
import { setGroupOffsets } from '#runtime/kafka/set-group-offsets.ts'
import { createLog } from '#runtime/log.ts'
import { requireOwnSessions } from '#runtime/own-sessions.ts'
import { connectionOf } from '#runtime/postgres-address.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { avroSchemas, topics, type TopicDefinition } from '#schemas/topics.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { findSystem, type System } from './examine/find-system.ts'
import { keepPublishedEvents } from './rewinding/keep-published-events.ts'
import { planRewind, type GroupRewind } from './rewinding/plan-rewind.ts'
import { parseOptions } from './stack/read-options.ts'
import { runCommand } from './stack/run-command.ts'

const usage = `scripts/rewind [--apply] [--since TIME] [--calls-since TIME] [--raise-again] [--state DIR]

For a Postgres that was restored from a backup, or failed over to a lagging standby. Run it before the sinks
start. It moves their consumer groups back to where the tables end, so that Kafka delivers the rest again
(docs/backup.md). Records that the tables have are recognised: going too far back is harmless.

  --apply              apply it; without, only print what would change
  --since TIME         scores, dead letters and events from then on (ISO 8601); default: an hour before the
                       database last stored a call
  --calls-since TIME   calls from then on, not from where the tables end: for sinks that continued after the
                       fail-over. Calls that the tables have are scored again, which only costs the judge
  --raise-again        raise events since then again, so receivers get them twice; by default, events that
                       Kafka shows as published stay so
  --state DIR          a stack that scripts/up started (.sluice); KAFKA_BROKERS, SCHEMA_REGISTRY_URL and
                       DATABASE_URL take its place
`
const hourMs = 3_600_000
const log = createLog('rewind', 'warn')

function readArguments() {
  return parseOptions(usage, {
    options: {
      apply: { type: 'boolean', default: false },
      since: { type: 'string' },
      'calls-since': { type: 'string' },
      'raise-again': { type: 'boolean', default: false },
      state: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  }).values
}

function timeOf(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const ms = Date.parse(given)
  if (Number.isNaN(ms))
    throw new CannotStart(`--${option} takes a time like 2026-11-21T08:00:00Z, not ${given}`)
  return ms
}

async function lastHour(database: Client): Promise<number> {
  // Not created_at, the client's clock: one that is two hours ahead would hide an hour of scores.
  const { rows } = await database.query<{ last: Date | null }>(
    'select max(stored_at) as last from llm_requests',
  )
  return Math.max(0, (rows[0]?.last?.getTime() ?? 0) - hourMs)
}

function describe({ groupId, members, offsets, again, gone }: GroupRewind): string {
  const lost =
    gone === 0n
      ? ''
      : `; ${gone} RECORDS ARE GONE: Kafka has deleted them, and the backup is older than they were`
  const busy = members === 0 ? '' : `; ${members} members, which have to stop first`
  return `${groupId}: ${again} records of ${offsets.length} partitions are read again${lost}${busy}`
}

async function keepEvents(
  { kafka, config }: System,
  database: Client,
  sinceMs: number,
): Promise<{ published: number; open: number }> {
  const prefix = config.TOPIC_PREFIX
  const registry = createRegistryCodec({ url: config.SCHEMA_REGISTRY_URL, log })
  const codecOf = <T>({ name, schema }: TopicDefinition) =>
    registry.codec<T>({ subject: `${prefix}${name}-value`, schema: avroSchemas[schema] })
  return keepPublishedEvents({
    kafka,
    database,
    prefix,
    sinceMs,
    events: codecOf<RaisedEvent>(topics.eventRaised),
    deliveries: codecOf<WebhookDelivery>(topics.deliveryDue),
  })
}

async function rewind(
  system: System,
  database: Client,
  values: ReturnType<typeof readArguments>,
): Promise<void> {
  const callsSinceMs = timeOf('calls-since', values['calls-since'])
  const sinceMs = timeOf('since', values.since) ?? (await lastHour(database))
  const plans = await planRewind(system.kafka, database, {
    prefix: system.config.TOPIC_PREFIX,
    sinceMs,
    callsSinceMs,
  })
  console.log(`scores, dead letters and events since ${new Date(sinceMs).toISOString()}`)
  for (const plan of plans) console.log(describe(plan))
  if (!values.apply) {
    console.log('nothing was changed: --apply does it')
    return
  }
  if (plans.some(({ members }) => members > 0))
    throw new CannotStart('stop all sinks first; nothing was changed')
  // Before the sinks continue: an event that is raised again cannot be withdrawn.
  if (!values['raise-again']) {
    const { published, open } = await keepEvents(system, database, sinceMs)
    console.log(
      `${published} events stay published; ${open} that the notifier had not finished are raised again`,
    )
  }
  for (const { groupId, offsets } of plans) await setGroupOffsets(system.kafka, groupId, offsets)
  console.log('done: start the sinks')
}

async function run(): Promise<void> {
  const values = readArguments()
  if (values.help === true) {
    console.log(usage)
    return
  }
  const system = await findSystem({ state: values.state, operations: [] }, process.env)
  await requireOwnSessions(system.config)
  const database = new Client({ ...connectionOf(system.config), application_name: 'sluice-rewind' })
  await database.connect()
  try {
    await rewind(system, database, values)
  } finally {
    await database.end()
  }
}

await runCommand(run, (error): error is Error => error instanceof CannotStart || error instanceof SluiceError)
