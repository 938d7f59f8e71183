import type { Pool, QueryResultRow } from 'pg'
import { query } from '#runtime/postgres.ts'
import { failingWebhookOf, failingWebhooksSql, type FailingWebhook } from '#schemas/failing-webhooks.ts'

/** What waits in Postgres, and the days that have partitions. */
export interface TableState {
  dead_letters: { topic: string; open: number; oldest_at: string }[]
  outbox: { unpublished: number; oldest_at: string | null }
  deliveries_waiting: number
  failing_webhooks: FailingWebhook[]
  partitions: { days: number; first: string | null; last: string | null }
}

export async function readTables(operatorPool: Pool): Promise<TableState> {
  const read = async <R extends QueryResultRow>(sql: string) => (await query<R>(operatorPool, sql)).rows
  const [letters, [outbox], [waiting], failing, [days]] = await Promise.all([
    read<{ topic: string; open: number; oldest_at: Date }>(
      `select topic, count(*)::integer as open, min(dead_at) as oldest_at from dead_letters where status = 'open' group by 1 order by 1`,
    ),
    read<{ unpublished: number; oldest_at: Date | null }>(
      'select count(*)::integer as unpublished, min(created_at) as oldest_at from event_outbox where published_at is null',
    ),
    read<{ waiting: number }>('select count(*)::integer as waiting from webhook_waiting'),
    read<FailingWebhook & QueryResultRow>(failingWebhooksSql),
    read<{ days: number; first: string | null; last: string | null }>(
      `select count(*)::integer as days, min(day) as first, max(day) as last from (
         select to_char(to_date(right(c.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day
         from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'llm_requests'::regclass) partitions`,
    ),
  ])
  return {
    dead_letters: letters.map((row) => ({ ...row, oldest_at: row.oldest_at.toISOString() })),
    outbox: {
      unpublished: outbox?.unpublished ?? 0,
      oldest_at: outbox?.oldest_at?.toISOString() ?? null,
    },
    deliveries_waiting: waiting?.waiting ?? 0,
    failing_webhooks: failing.map(failingWebhookOf),
    partitions: days ?? { days: 0, first: null, last: null },
  }
}
