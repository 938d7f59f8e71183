import type { ClientBase, Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { dayTableOf, rollupTables } from './rollup-tables.ts'

/** Tables with content, by day. */
export const contentTables = [
  'search_signatures',
  'safety_score_details',
  'llm_request_bodies',
  'request_previews',
] as const
/** All tables by day; referring tables first. */
export const allDayTables = [...contentTables, 'request_verdicts', 'safety_scores', 'llm_requests'] as const
type DayTable = (typeof allDayTables)[number]

/**
 * Drops the oldest partition of `tables` whose day ended before `endedBefore` (a UTC day, exclusive). Waits
 * only a moment for its lock: every other user of the table queues behind it. Returns its name, or null.
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

/** A project with a shorter retention of content. */
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

/**
 * Deletes a project's content from before `before`, also quotations in events: at most `limit` rows of each
 * table. Returns how many, and whether more may be left.
 */
export async function deleteContent(
  client: ClientBase,
  projectUuid: string,
  before: Date,
  limit: number,
): Promise<Deleted> {
  const deleted = { rows: 0, hasMore: false }
  for (const sql of [...deleteOfCalls, deleteDetails, deleteFindingValues])
    add(deleted, limit, await client.query(sql, [projectUuid, before, limit, firstUuidOf(before)]))
  for (const sql of [deleteEvents, deleteDeliveries])
    add(deleted, limit, await client.query(sql, [projectUuid, before, limit]))
  return deleted
}

export interface Deleted {
  rows: number
  /** More rows may be left. */
  hasMore: boolean
}

function add(deleted: Deleted, limit: number, { rowCount }: { rowCount: number | null }): void {
  deleted.rows += rowCount ?? 0
  deleted.hasMore ||= rowCount === limit
}

/** The smallest UUID of an identifier of that time. */
function firstUuidOf(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** Deletes finished deliveries with their attempts, and indexed dead letters, from before `before`. */
export async function deleteOldLogs(client: ClientBase, before: Date, limit: number): Promise<Deleted> {
  const deleted = { rows: 0, hasMore: false }
  add(deleted, limit, await client.query(deleteOldDeliveries, [before, limit, firstUuidOf(before)]))
  add(deleted, limit, await client.query(deleteDeadLetters, [before, limit]))
  return deleted
}

/** Deletes deliveries, also waiting ones, of deleted webhooks with their attempts: at most `limit`. */
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

/** The same for all projects, which have the longest retention. */
export async function deleteOldFindingValues(
  client: ClientBase,
  before: Date,
  limit: number,
): Promise<Deleted> {
  const deleted = { rows: 0, hasMore: false }
  add(deleted, limit, await client.query(deleteValuesOfAll, [firstUuidOf(before), limit]))
  return deleted
}

// By project: the index leads with it.
const deleteValuesOfAll = `
  delete from finding_values where (project_id, finding_id, hash, lane) in (
    select old.* from projects p cross join lateral (
      select v.project_id, v.finding_id, v.hash, v.lane from finding_values v
      where v.project_id = p.id and v.last_request_id < $1::uuid order by v.last_request_id limit $2
    ) old limit $2)`

/**
 * Deletes roll-ups of days before `firstKept`, at most `limit` rows of each table. Returns whether more is
 * left.
 */
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

/**
 * Deletes reviews of scores of days before `firstKept`, at most `limit`. Triggers keep their counts right.
 */
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

// By project: the index leads with it. By time alone all reviews would be read each round.
const deleteReviews = `
  delete from score_reviews where id in (
    select old.id from projects p cross join lateral (
      select id from score_reviews r where r.project_id = p.id and r.request_id < $3::uuid and r.request_created_at < $1
      order by r.request_id limit $2
    ) old limit $2)`

// By the identifier's time, with which the key leads: by `created_at` alone the whole boundary day is read
// each round.
const deleteOfCalls = (['llm_request_bodies', 'request_previews'] as const).map(
  (table) => `
  delete from ${table} where (project_id, request_id, created_at) in (
    select project_id, request_id, created_at from ${table}
    where project_id = $1 and request_id < $4::uuid and created_at < $2 limit $3
  ) and created_at < $2`,
)

const deleteDetails = `
  delete from safety_score_details where (project_id, score_id, request_created_at) in (
    select project_id, score_id, request_created_at from safety_score_details
    where project_id = $1 and score_id < $4::uuid and request_created_at < $2 limit $3
  ) and request_created_at < $2`

/** The findings' hashes of what was found last before `before`. */
const deleteFindingValues = `
  delete from finding_values where (project_id, finding_id, hash, lane) in (
    select project_id, finding_id, hash, lane from finding_values
    where project_id = $1 and last_request_id < $4::uuid and $2::timestamptz is not null limit $3)`

// One that is not published yet still has to be; its time comes in a later round.
const deleteEvents = `
  delete from event_outbox where seq in (
    select seq from event_outbox where project_id = $1 and created_at < $2 and published_at is not null limit $3)`

/**
 * Ended, or abandoned: not attempted for an hour and not waiting. A late record of it finds nothing to claim.
 * Both checks are scalar subqueries: `not exists` read all attempts of all deliveries, 42,346 pages for 2.2
 * million (no piece of 100 million finished in its 30 s); now 4 pages for each open delivery.
 */
const isOver = `(status in ('delivered', 'failed') or (created_at < now() - interval '1 hour'
  and coalesce((select max(a.at) from webhook_attempts a where a.delivery_id = webhook_deliveries.id) <= now() - interval '1 hour', true)
  and (select count(*) from webhook_waiting w where w.delivery_id = webhook_deliveries.id) = 0))`

const deleteDeliveries = `
  delete from webhook_deliveries where id in (
    select id from webhook_deliveries where project_id = $1 and event_created_at < $2 and ${isOver} limit $3)`

// A delivery's identifier has its event's time: the primary key leads to the oldest; one of a clock that was
// ahead is deleted later. A BRIN index fails once rows of all ages share freed pages.
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

// One webhook at a time: Postgres knows how much each has. For several together it expects little, and reads
// a log of millions for every piece.
const deleteDeliveriesOf = `
  delete from webhook_deliveries where id in (
    select id from webhook_deliveries where webhook_id = $1 order by created_at desc, id desc limit $2)`

const deleteDeadLetters = `
  delete from dead_letters where id in (
    select id from dead_letters where dead_at < $1 limit $2)`
