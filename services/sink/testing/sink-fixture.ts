import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { systemClock } from '#runtime/clock.ts'
import { parseConfig } from '#runtime/config.ts'
import type { Log } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import type { Service } from '#runtime/service.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { ScoredCall } from '#schemas/safety-score-recorded.ts'
import { topics, type TopicDefinition } from '#schemas/topics.ts'
import type { Tier } from '#schemas/tiers.ts'
import { startServiceFixture, type ServiceFixture } from '#tests/support/service-fixture.ts'
import { eventually } from '#tests/support/until.ts'
import { sinkConfig, type SinkConfig } from '../config.ts'
import { createSink } from '../service.ts'

export interface SinkFixture extends Omit<ServiceFixture, 'environment'> {
  environment: Readonly<Record<string, string>>
  addProject: (tier?: Tier) => Promise<string>
  sendCalls: (calls: readonly LoggedCall[], topic?: TopicDefinition<'LlmRequestLogged'>) => Promise<void>
  sendScores: (scores: readonly ScoredCall[]) => Promise<void>
}

export async function setSinkFixture(): Promise<SinkFixture> {
  const fixture = await startServiceFixture('sink')
  return {
    ...fixture,
    environment: { ...fixture.environment, DASHBOARD_URL: 'https://sluice.example' },
    addProject: (tier = 'enterprise') => addProject(fixture.pool, tier),
    sendCalls: (calls, topic = topics.requestLogged) => fixture.sendAs(topic, calls, ({ id }) => id),
    sendScores: (scores) => fixture.sendAs(topics.scoreRecorded, scores, ({ request_id: id }) => id),
  }
}

async function addProject(pool: Pool, tier: Tier): Promise<string> {
  const id = newId('project')
  const uuid = idToUuid(id)
  await pool.query('insert into projects (id, name, created_at) values ($1, $2, now())', [uuid, 'a project'])
  await pool.query(
    `insert into subscriptions (project_id, tier, period_start, period_reset_at, period_anchor)
     values ($1, $2, now(), now() + interval '1 month', now())`,
    [uuid, tier],
  )
  return id
}

export interface RunningSink {
  service: Service
  /** The lines that it wrote to standard output. */
  lines: Record<string, unknown>[]
  /** A metric's value, by its labels in Prometheus's notation: `sluice_sink_rows_total`. */
  metric: (name: string) => Promise<number>
}

/** A sink in this process. Its lines are kept instead of written. */
export async function startSink(
  fixture: SinkFixture,
  changes: Record<string, string> = {},
): Promise<RunningSink> {
  const parsed = parseConfig(sinkConfig, { ...fixture.environment, ...changes })
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  const lines: Record<string, unknown>[] = []
  const log: Log = pino(
    { level: 'silent' },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  )
  const metrics = createMetrics()
  const config: SinkConfig = parsed.value
  const service = createSink(config, { log, metrics, clock: systemClock })
  await service.start()
  return {
    service,
    lines,
    async metric(name) {
      const text = await metrics.registry.metrics()
      const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
      return Number(line?.slice(name.length + 1) ?? 0)
    },
  }
}

export interface Tapped<T> {
  key: string
  value: T
}

/** Everything on a topic so far and from now on. */
export interface Tap<T> {
  records: Tapped<T>[]
  headers: Record<string, string>[]
  stop: () => Promise<void>
}

/** Follows a topic from its beginning. */
export async function tapTopic<T>(
  fixture: SinkFixture,
  name: string,
  decode: (bytes: Buffer) => Promise<T>,
): Promise<Tap<T>> {
  const topic = fixture.prefix + name
  const consumer = fixture.kafka.consumer({ groupId: `${topic}.tap`, retry: { retries: 5 } })
  const records: Tapped<T>[] = []
  const headers: Record<string, string>[] = []
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message }) => {
      const entries = Object.entries(message.headers ?? {}).map(([header, value]) => [header, String(value)])
      headers.push(Object.fromEntries(entries) as Record<string, string>)
      records.push({ key: String(message.key), value: await decode(message.value ?? Buffer.alloc(0)) })
    },
  })
  return { records, headers, stop: () => consumer.disconnect() }
}

/**
 * Polls a count until it is `expected`. Fails once it has stood still for three minutes: how fast it grows is
 * the machine's business.
 */
export async function eventuallyCounted(
  count: () => Promise<number> | number,
  expected: number,
): Promise<void> {
  let best = -1
  let deadlineMs = 0
  for (;;) {
    const value = await count()
    if (value === expected) return
    if (value > best) {
      best = value
      deadlineMs = Date.now() + 180_000
    }
    if (Date.now() > deadlineMs) throw new Error(`still ${value} of ${expected}`)
    await sleep(50)
  }
}

/** The codes of the dead letters that are indexed under `key`, once there are `count` of them. */
export async function indexedDeadLetters(
  fixture: SinkFixture,
  key: string,
  count: number,
): Promise<string[]> {
  const select = 'select code from dead_letters where record_key = $1 and value_bytes > 0 order by code'
  const { rows } = await eventually(
    () => fixture.pool.query<{ code: string }>(select, [key]),
    (found) => found.rows.length >= count,
  )
  return rows.map(({ code }) => code)
}
