import type { Admin } from 'kafkajs'
import pg from 'pg'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { readMetric } from '../../../support/read-metric.ts'
import { serviceOf } from '../fixture/roster.ts'
import type { ComparedSystem } from './compared-system.ts'

type Watched = Omit<ComparedSystem, 'projects'>

/** Work in progress or stuck, by kind. All are 0 when a run has come to rest. */
export async function readLeftOver(fixture: Watched): Promise<Record<string, number>> {
  const spools = await Promise.all(
    [...fixture.services]
      .filter(([name]) => serviceOf(name) === 'gateway')
      .map(([, { operationsPort }]) => readMetric(operationsPort, 'sluice_gateway_spool_records')),
  )
  return {
    'records in spools': spools.reduce((sum, count) => sum + count, 0),
    ...(await readUnhandled(fixture)),
    ...(await readWaiting(fixture.parts.postgres.url)),
  }
}

/** Unhandled records by group and topic, including partitions that the group has never seen. */
async function readUnhandled({ kafka, topicPrefix }: Watched): Promise<Record<string, number>> {
  return withAdmin(kafka, async (admin) => {
    const { groups } = await admin.listGroups()
    const unhandled: Record<string, number> = {}
    for (const { groupId } of groups.filter((group) => group.groupId.startsWith(topicPrefix)))
      for (const { topic, partitions } of await admin.fetchOffsets({ groupId })) {
        const count = await countBehind(
          admin,
          topic,
          new Map(partitions.map((each) => [each.partition, each.offset])),
        )
        if (count > 0)
          unhandled[
            `records of ${topic.slice(topicPrefix.length)} before ${groupId.slice(topicPrefix.length)}`
          ] = count
      }
    return unhandled
  })
}

async function countBehind(
  admin: Admin,
  topic: string,
  committed: ReadonlyMap<number, string>,
): Promise<number> {
  const ends = await admin.fetchTopicOffsets(topic)
  return ends.reduce((sum, { partition, low, high }) => {
    const next = Math.max(Number(committed.get(partition) ?? -1), Number(low))
    return sum + Math.max(0, Number(high) - next)
  }, 0)
}

async function readWaiting(databaseUrl: string): Promise<Record<string, number>> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 5_000,
    query_timeout: 30_000,
  })
  await client.connect()
  try {
    const { rows } = await client.query<{ what: string; count: number }>(
      `select 'events unpublished' as what, count(*)::int as count from event_outbox where published_at is null
       union all select 'deliveries under way', count(*)::int from webhook_deliveries where status in ('pending', 'retrying')
       union all select 'deliveries that wait', count(*)::int from webhook_waiting
       union all select 'dead letters (' || topic || ', ' || code || ')', count(*)::int from dead_letters group by topic, code
       union all select 'calls without scores', count(*)::int from llm_requests r
         where not exists (select from safety_scores s where s.project_id = r.project_id and s.request_id = r.id)`,
    )
    return Object.fromEntries(rows.map(({ what, count }) => [what, count]))
  } finally {
    await client.end()
  }
}
