import type { ClientBase } from 'pg'
import { dayTableOf, rollupTables } from './rollup-tables.ts'

/** Tables with content, by day. */
export const contentTables = ['safety_score_details', 'llm_request_bodies'] as const
/** All tables by day, those first that refer to later ones. */
export const allDayTables = [...contentTables, 'request_verdicts', 'safety_scores', 'llm_requests'] as const
type DayTable = (typeof allDayTables)[number]

/**
 * Drops the oldest partition of `tables` whose day ended before `endedBefore` (a UTC day, exclusive), waiting for its lock only a
 * moment: everybody else who wants the table queues behind us. Returns its name; undefined when there is none.
 */
export async function dropOldestDay(
  client: ClientBase,
  tables: readonly DayTable[],
  endedBefore: string,
): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `select child.relname as name from unnest($1::text[]) with ordinality as parents (parent, place)
     join pg_inherits on inhparent = parent::regclass
     join pg_class child on child.oid = inhrelid
     where child.relname ~ '_\\d{8}$' and right(child.relname, 8) < $2
     order by right(child.relname, 8), place limit 1`,
    [tables, endedBefore.replaceAll('-', '')],
  )
  const name = rows[0]?.name
  if (name === undefined) return undefined
  await client.query(`set local lock_timeout = '3s'`)
  await client.query(`drop table ${client.escapeIdentifier(name)}`)
  return name
}

/** Deletes the content of projects that keep theirs for fewer days, also where events quote it, at most `limit` rows of each table. Returns how many. */
export async function deleteExpiredContent(client: ClientBase, now: Date, limit: number): Promise<number> {
  const { rows } = await client.query<{ id: string; retention_days: number }>(
    'select id, retention_days from projects where retention_days is not null order by id',
  )
  let deleted = 0
  for (const { id, retention_days } of rows) {
    const before = new Date(now.getTime() - retention_days * 86_400_000)
    for (const sql of [deleteBodies, deleteDetails, deleteEvents, deleteDeliveries]) {
      const { rowCount } = await client.query(sql, [id, before, limit])
      deleted += rowCount ?? 0
    }
  }
  return deleted
}

/** Deletes deliveries that are over with their attempts, and the index of dead letters, of over `days` days ago: at most `limit` of each. Returns how many. */
export async function deleteOldLogs(client: ClientBase, days: number, limit: number): Promise<number> {
  let deleted = 0
  for (const sql of [deleteOldDeliveries, deleteDeadLetters]) {
    const { rowCount } = await client.query(sql, [days, limit])
    deleted += rowCount ?? 0
  }
  return deleted
}

/** Deletes deliveries of webhooks that were deleted, with their attempts and whether they wait or not: at most `limit`. Returns how many. */
export async function deleteLeftDeliveries(client: ClientBase, limit: number): Promise<number> {
  const { rows } = await client.query<{ webhook_id: string }>(findDeletedWebhooks)
  let deleted = 0
  for (const { webhook_id } of rows) {
    if (deleted === limit) break
    const { rowCount } = await client.query(deleteDeliveriesOf, [webhook_id, limit - deleted])
    deleted += rowCount ?? 0
  }
  return deleted
}

/** Deletes roll-ups of days before `firstKept`, at most `limit` rows of each table. Returns whether one may have more. */
export async function deleteOldRollups(
  client: ClientBase,
  firstKept: string,
  limit: number,
): Promise<boolean> {
  let hasMore = false
  for (const name of rollupTables.flatMap((table) => [table.name, dayTableOf(table)])) {
    const { rowCount } = await client.query(
      `delete from ${name} where ctid in (select ctid from ${name} where hour < $1::date::timestamp at time zone 'UTC' limit $2)`,
      [firstKept, limit],
    )
    hasMore ||= rowCount === limit
  }
  return hasMore
}

const deleteBodies = `
  delete from llm_request_bodies where (project_id, request_id, created_at) in (
    select project_id, request_id, created_at from llm_request_bodies where project_id = $1 and created_at < $2 limit $3
  ) and created_at < $2`

const deleteDetails = `
  delete from safety_score_details where (project_id, score_id, request_created_at) in (
    select project_id, score_id, request_created_at from safety_score_details
    where project_id = $1 and request_created_at < $2 limit $3
  ) and request_created_at < $2`

// One that is not published yet still has to be; its time comes in a later round.
const deleteEvents = `
  delete from event_outbox where seq in (
    select seq from event_outbox where project_id = $1 and created_at < $2 and published_at is not null limit $3)`

/** Ended, or left: not attempted for an hour, and not waiting for it. What still comes of a record finds nothing to claim. */
const isOver = `(status in ('delivered', 'failed') or (created_at < now() - interval '1 hour'
  and not exists (select from webhook_attempts a where a.delivery_id = webhook_deliveries.id and a.at > now() - interval '1 hour')
  and not exists (select from webhook_waiting w where w.delivery_id = webhook_deliveries.id)))`

const deleteDeliveries = `
  delete from webhook_deliveries where id in (
    select id from webhook_deliveries where project_id = $1 and event_created_at < $2 and ${isOver} limit $3)`

const deleteOldDeliveries = `
  delete from webhook_deliveries where id in (
    select id from webhook_deliveries where created_at < now() - make_interval(days => $1) and ${isOver} limit $2)`

// The walk over distinct webhooks skips from each to the next by the index of their logs.
const findDeletedWebhooks = `
  with recursive logged (webhook_id) as (
    (select webhook_id from webhook_deliveries order by webhook_id limit 1)
    union all
    select (select d.webhook_id from webhook_deliveries d where d.webhook_id > logged.webhook_id order by d.webhook_id limit 1)
    from logged where logged.webhook_id is not null
  )
  select webhook_id from logged where webhook_id is not null and not exists (select from webhooks w where w.id = logged.webhook_id)`

// Of one webhook, because Postgres knows of each how much there is: of several together it expects little, and reads all of a log of millions for
// every piece.
const deleteDeliveriesOf = `
  delete from webhook_deliveries where id in (
    select id from webhook_deliveries where webhook_id = $1 order by created_at desc, id desc limit $2)`

const deleteDeadLetters = `
  delete from dead_letters where id in (
    select id from dead_letters where dead_at < now() - make_interval(days => $1) limit $2)`
