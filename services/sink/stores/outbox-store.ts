import type { ClientBase, Pool } from 'pg'
import { inTransaction, query } from '#runtime/postgres.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { idToUuid } from '#schemas/ids.ts'
import { raisedEventOf, type StoredEvent } from '#schemas/stored-event.ts'
import type { CopyColumn } from './copy-rows.ts'
import { stageRows } from './stage-rows.ts'

const columns: readonly CopyColumn<RaisedEvent>[] = [
  { name: 'id', type: 'uuid', value: (event) => idToUuid(event.id) },
  { name: 'event', type: 'text', value: (event) => event.event },
  { name: 'project_id', type: 'uuid', value: (event) => idToUuid(event.project_id) },
  { name: 'created_at', type: 'timestamptz', value: (event) => event.created_at },
  { name: 'data', type: 'bytea', value: (event) => event.data },
  { name: 'content_codec', type: 'text', value: (event) => event.content?.codec ?? null },
  { name: 'content_key_id', type: 'text', value: (event) => event.content?.key_id ?? null },
  { name: 'content_data', type: 'bytea', value: (event) => event.content?.data ?? null },
  { name: 'content_id', type: 'text', value: (event) => event.content_id },
]
const names = columns.map(({ name }) => name).join(', ')

/** Writes events in the transaction of the state that made them true. Existing events stay. */
export async function insertEvents(client: ClientBase, events: readonly RaisedEvent[]): Promise<void> {
  if (events.length === 0) return
  await stageRows(client, 'staged_events', columns, events)
  // A deleted project has nobody to notify.
  await client.query(
    `insert into event_outbox (${names}) select ${names} from staged_events
     where exists (select from projects where projects.id = project_id) order by place on conflict do nothing`,
  )
}

/** A waiting event. `seq` is its position in the outbox. */
export interface OutboxRow {
  seq: string
  event: RaisedEvent
}

/** Waiting events, as a relay takes them. */
export interface Outbox {
  /**
   * Passes `publish` the oldest waiting events that no other relay holds, at most `maxRows`, and none after
   * `maxBytes` are reached. Marks them published once it resolves; if it rejects, they wait. Resolves to
   * them.
   */
  publishOldest(
    limits: { maxRows: number; maxBytes: number },
    publish: (rows: readonly OutboxRow[]) => Promise<void>,
  ): Promise<readonly OutboxRow[]>
}

/** Rows are locked while they are being published, so that several sinks share the work. */
export function createOutbox(pool: Pool): Outbox {
  return {
    publishOldest: ({ maxRows, maxBytes }, publish) =>
      inTransaction(pool, async (client) => {
        const claimed = await claimEvents(client, maxRows, maxBytes)
        if (claimed.length === 0) return claimed
        await publish(claimed)
        await markPublished(client, claimed)
        return claimed
      }),
  }
}

async function claimEvents(client: ClientBase, maxRows: number, maxBytes: number): Promise<OutboxRow[]> {
  const { rows } = await client.query<StoredEvent & { seq: string }>(
    `with claimed as materialized (
       select seq, octet_length(data) + coalesce(octet_length(content_data), 0) as size from event_outbox
       where published_at is null order by seq limit $1 for update skip locked
     ), measured as (select seq, sum(size) over (order by seq) - size as bytes_before from claimed)
     select event_outbox.* from event_outbox join measured using (seq) where bytes_before < $2 order by seq`,
    [maxRows, maxBytes],
  )
  return rows.map((row) => ({ seq: row.seq, event: raisedEventOf(row) }))
}

async function markPublished(client: ClientBase, rows: readonly OutboxRow[]): Promise<void> {
  await client.query('update event_outbox set published_at = now() where seq = any ($1::bigint[])', [
    rows.map(({ seq }) => seq),
  ])
}

/** How many events wait (counted up to 10,000) and since when the oldest does, in seconds (0 when none). */
export async function measureOutbox(pool: Pool): Promise<{ waiting: number; oldestSeconds: number }> {
  const { rows } = await query<{ waiting: number; oldest_seconds: number }>(
    pool,
    `select count(*)::integer as waiting, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest_seconds
     from (select created_at from event_outbox where published_at is null order by seq limit 10000) as waiting_events`,
  )
  const [row] = rows
  return { waiting: row?.waiting ?? 0, oldestSeconds: Math.max(0, row?.oldest_seconds ?? 0) }
}

/** Deletes events that were published over `days` days ago, at most 10,000. Returns how many. */
export async function deletePublished(client: ClientBase, days: number): Promise<number> {
  const { rowCount } = await client.query(
    `delete from event_outbox where seq in (
       select seq from event_outbox where published_at < now() - make_interval(days => $1) order by seq limit 10000
     )`,
    [days],
  )
  return rowCount ?? 0
}
