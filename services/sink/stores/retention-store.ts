import type { ClientBase, Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { dayTableOf, rollupTables } from './rollup-tables.ts'

/** Tables with content, by day. */
export const contentTables = ['safety_score_details', 'llm_request_bodies'] as const
/** All tables by day, those first that refer to later ones. */
export const allDayTables = [...contentTables, 'request_verdicts', 'safety_scores', 'llm_requests'] as const
type DayTable = (typeof allDayTables)[number]

/**
 * Drops the oldest partition of `tables` whose day ended before `endedBefore` (a UTC day, exclusive), waiting for its lock only a
 * moment: everybody else who wants the table queues behind us. Returns its name; null when there is none.
 */
export async function dropOldestDay(
  client: ClientBase,
  tables: readonly DayTable[],
  endedBefore: string,
): Promise<string | null> {
  const { rows } = await client.query<{ name: string }>(
    `select child.relname as name from unnest($1::text[]) with ordinality as parents (parent, place)
     join pg_inherits on inhparent = parent::regclass
     join pg_class child on child.oid = inhrelid
     where child.relname ~ '_\\d{8}$' and right(child.relname, 8) < $2
     order by right(child.relname, 8), place limit 1`,
    [tables, endedBefore.replaceAll('-', '')],
  )
  const name = rows[0]?.name
  if (name === undefined) return null
  await client.query(`set local lock_timeout = '3s'`)
  await client.query(`drop table ${client.escapeIdentifier(name)}`)
  return name
}

/** A project that keeps its content for fewer days than others. */
export interface ShortRetention {
  projectUuid: string
  days: number
}

export async function findShortRetentions(pool: Pool): Promise<ShortRetention[]> {
  const { rows } = await query<{ id: string; retention_days: number }>(
    pool,
    'select id, retention_days from projects where retention_days is not null order by id',
  )
  return rows.map(({ id, retention_days }) => ({ projectUuid: id, days: retention_days }))
}

/** Deletes a project's content of before `before`, also where events quote it, at most `limit` rows of each table. Returns how many, and whether one may have more. */
export async function deleteContent(
  client: ClientBase,
  projectUuid: string,
  before: Date,
  limit: number,
): Promise<Deleted> {
  const deleted = { rows: 0, hasMore: false }
  for (const sql of [deleteBodies, deleteDetails])
    add(deleted, limit, await client.query(sql, [projectUuid, before, limit, firstUuidOf(before)]))
  for (const sql of [deleteEvents, deleteDeliveries])
    add(deleted, limit, await client.query(sql, [projectUuid, before, limit]))
  return deleted
}

export interface Deleted {
  rows: number
  /** A table may have more than were deleted at once. */
  hasMore: boolean
}

function add(deleted: Deleted, limit: number, { rowCount }: { rowCount: number | null }): void {
  deleted.rows += rowCount ?? 0
  deleted.hasMore ||= rowCount === limit
}

/** The least UUID that an identifier of that time can have. */
function firstUuidOf(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** Deletes deliveries that are over with their attempts, and the index of dead letters, of before `before`: at most `limit` of each. */
export async function deleteOldLogs(client: ClientBase, before: Date, limit: number): Promise<Deleted> {
  const deleted = { rows: 0, hasMore: false }
  add(deleted, limit, await client.query(deleteOldDeliveries, [before, limit, firstUuidOf(before)]))
  add(deleted, limit, await client.query(deleteDeadLetters, [before, limit]))
  return deleted
}

/** Deletes deliveries of webhooks that were deleted, with their attempts and whether they wait or not: at most `limit`. */
export async function deleteLeftDeliveries(client: ClientBase, limit: number): Promise<Deleted> {
  const { rows } = await client.query<{ webhook_id: string }>(findDeletedWebhooks)
  let deleted = 0
  for (const { webhook_id } of rows) {
    if (deleted === limit) break
    const { rowCount } = await client.query(deleteDeliveriesOf, [webhook_id, limit - deleted])
    deleted += rowCount ?? 0
  }
  return { rows: deleted, hasMore: deleted === limit }
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

/** Deletes what people said of scores of days before `firstKept`, at most `limit` rows; what triggers count of it goes too. */
export async function deleteOldReviews(
  client: ClientBase,
  firstKept: string,
  limit: number,
): Promise<Deleted> {
  const before = new Date(`${firstKept}T00:00:00Z`)
  const deleted = { rows: 0, hasMore: false }
  add(deleted, limit, await client.query(deleteReviews, [before, limit, firstUuidOf(before)]))
  return deleted
}

// By project, each a look at an index, which leads with it: by the time alone all reviews are read each round.
const deleteReviews = `
  delete from score_reviews where id in (
    select old.id from projects p cross join lateral (
      select id from score_reviews r where r.project_id = p.id and r.request_id < $3::uuid and r.request_created_at < $1
      order by r.request_id limit $2
    ) old limit $2)`

// The time is the identifier's too, which the key leads with: by `created_at` alone all entries of the boundary day are walked each round.
const deleteBodies = `
  delete from llm_request_bodies where (project_id, request_id, created_at) in (
    select project_id, request_id, created_at from llm_request_bodies
    where project_id = $1 and request_id < $4::uuid and created_at < $2 limit $3
  ) and created_at < $2`

const deleteDetails = `
  delete from safety_score_details where (project_id, score_id, request_created_at) in (
    select project_id, score_id, request_created_at from safety_score_details
    where project_id = $1 and score_id < $4::uuid and request_created_at < $2 limit $3
  ) and request_created_at < $2`

// One that is not published yet still has to be; its time comes in a later round.
const deleteEvents = `
  delete from event_outbox where seq in (
    select seq from event_outbox where project_id = $1 and created_at < $2 and published_at is not null limit $3)`

/**
 * Ended, or left: not attempted for an hour, and not waiting for it. What still comes of a record finds nothing to claim. Both are asked for as
 * values: `not exists` Postgres answered by reading all attempts of all deliveries for each piece with one that had not ended (of 2.2 million 42,346 pages,
 * so that of some 100 million no piece was done in its 30 s), now 4 for each that has not ended.
 */
const isOver = `(status in ('delivered', 'failed') or (created_at < now() - interval '1 hour'
  and coalesce((select max(a.at) from webhook_attempts a where a.delivery_id = webhook_deliveries.id) <= now() - interval '1 hour', true)
  and (select count(*) from webhook_waiting w where w.delivery_id = webhook_deliveries.id) = 0))`

const deleteDeliveries = `
  delete from webhook_deliveries where id in (
    select id from webhook_deliveries where project_id = $1 and event_created_at < $2 and ${isOver} limit $3)`

// A delivery's identifier has the time of its event: the primary key leads to the oldest, and one of a clock that was ahead goes as much later.
// An index by ranges of pages does not, once rows of all ages share pages that were freed.
const deleteOldDeliveries = `
  delete from webhook_deliveries where id in (
    select id from webhook_deliveries where id < $3::uuid and created_at < $1 and ${isOver} order by id limit $2)`

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
    select id from dead_letters where dead_at < $1 limit $2)`
