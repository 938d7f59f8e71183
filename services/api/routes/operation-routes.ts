import type { Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { messageOf } from '#runtime/errors.ts'
import { describeFailing } from '#schemas/failing-webhooks.ts'
import { route, type Route } from '#http/route.ts'
import { readLag, type KafkaLag } from '../operations/read-lag.ts'
import { readTables } from '../operations/read-tables.ts'
import { judgeField, readJudge } from '../stores/judge-status-store.ts'
import { listGateways } from '../stores/gateway-store.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'

/** Limits the load on the broker when a dashboard polls every second. */
const answerKeptMs = 5_000
const maxGateways = 200

const count = z.number().int()
const operationsSchema = z.object({
  at: z.iso.datetime().describe('The time of the reading; at most 5 s ago.'),
  health: z.object({ status: z.enum(['ok', 'degraded']), problems: z.record(z.string(), z.string()) }),
  groups: z
    .array(z.object({ group: z.string(), topic: z.string(), lag: count, partitions: count, members: count }))
    .describe('Unhandled records of each consumer group.'),
  oldest_job_age_s: count
    .nullable()
    .describe('The age of the oldest call that waits for a scorer; null: none.'),
  dead_letters: z.array(z.object({ topic: z.string(), open: count, oldest_at: z.iso.datetime() })),
  outbox: z.object({ unpublished: count, oldest_at: z.iso.datetime().nullable() }),
  deliveries_waiting: count,
  failing_webhooks: z
    .array(z.object({ id: z.string(), project_id: z.string(), deliveries: count, failed: count }))
    .describe(
      'Webhooks with half or more failures among the newest 1,000 deliveries of the last day; the worst first.',
    ),
  judge: judgeField,
  partitions: z.object({ days: count, first: z.string().nullable(), last: z.string().nullable() }),
  gateways: z.array(
    z.object({
      project_id: z.string().nullable(),
      name: z.string(),
      version: z.string(),
      delivery: z.enum(['api', 'kafka']),
      started_at: z.iso.datetime(),
      seen_at: z.iso.datetime(),
      spool: z.object({ records: count, bytes: count, oldest_at: z.iso.datetime().nullable() }),
      lost: z.record(z.string(), count),
      left_out: z
        .record(z.string(), z.record(z.string(), count))
        .describe(
          'Calls that it forwarded and did not record, as their keys have it: by project and reason.',
        ),
      problems: z.record(z.string(), z.string()),
    }),
  ),
})

interface OperationRoutesOptions {
  databases: ProjectDatabases
  operatorPool: Pool
  kafka: Kafka
  topicPrefix: string
  /** Problems of this process. */
  problems: () => Record<string, string>
  clock: Clock
}

/** The state of the installation. */
export function operationRoutes(options: OperationRoutesOptions): Route[] {
  const { databases, clock } = options
  let kept: { atMs: number; answer: Promise<object> } | undefined
  return [
    route({
      access: 'operator',
      tag: 'Operations',
      method: 'get',
      path: '/api/operations',
      summary: 'The state of consumers, dead letters, events and gateways, with problems.',
      reply: { status: 200, description: 'The state of the installation.', schema: operationsSchema },
      async handle({ principal }) {
        const nowMs = clock.now()
        if (kept === undefined || nowMs - kept.atMs >= answerKeptMs) {
          const gateways = () => listGateways(databases.of(principal, undefined), nowMs, maxGateways)
          kept = { atMs: nowMs, answer: readOperations(options, gateways, nowMs) }
          // A failure is not cached.
          kept.answer.catch(() => (kept = undefined))
        }
        return { json: await kept.answer }
      },
    }),
  ]
}

async function readOperations(
  { operatorPool, kafka, topicPrefix, problems }: OperationRoutesOptions,
  gateways: () => ReturnType<typeof listGateways>,
  nowMs: number,
): Promise<z.output<typeof operationsSchema>> {
  const found: Record<string, string> = { ...problems() }
  const noLag: KafkaLag = { groups: [], oldest_job_age_s: null }
  const [lag, tables, seen, judge] = await Promise.all([
    // If Kafka fails, the rest is shown with its error.
    readLag(kafka, topicPrefix, nowMs).catch((error: unknown) => {
      found['kafka'] = messageOf(error)
      return noLag
    }),
    readTables(operatorPool),
    gateways(),
    readJudge(operatorPool),
  ])
  const failing = describeFailing(tables.failing_webhooks)
  if (failing !== undefined) found['webhooks'] = failing
  return {
    at: new Date(nowMs).toISOString(),
    health: { status: Object.keys(found).length === 0 ? 'ok' : 'degraded', problems: found },
    ...lag,
    ...tables,
    judge,
    gateways: seen.map(({ projectId, startedAtMs, seenAtMs, spool, leftOut, ...gateway }) => ({
      project_id: projectId,
      ...gateway,
      started_at: new Date(startedAtMs).toISOString(),
      seen_at: new Date(seenAtMs).toISOString(),
      spool: {
        records: spool.records,
        bytes: spool.bytes,
        oldest_at: spool.oldestAtMs === null ? null : new Date(spool.oldestAtMs).toISOString(),
      },
      lost: { ...gateway.lost },
      left_out: leftOut,
      problems: { ...gateway.problems },
    })),
  }
}
