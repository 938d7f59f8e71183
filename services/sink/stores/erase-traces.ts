import type { ClientBase } from 'pg'
import { clientsAheadMs } from '#capture/record/read-bodies.ts'
import { idFromUuid, idTimeMs } from '#schemas/ids.ts'
import type { OpenErasure } from './erase-calls.ts'
import { recountDays } from './rollup-days.ts'
import { eraseUserCounts, type ErasedCall } from './erase-user-counts.ts'
import type { RollupStore } from './rollup-store.ts'
import { dayTableOf, minuteTables, rollupTables } from './rollup-tables.ts'

/**
 * A table that refers to calls without a foreign key. It is walked by `time` and `key`, which have an index
 * with the project.
 */
export interface TraceTable {
  name: string
  time: string
  key: string
  keyType: string
  /** Whether a row `t` is of an erased call. */
  ofErased: string
}

/** Position of a walk. */
export interface Place {
  /** As Postgres writes it: a Date has no microseconds, and the walk would repeat rows. */
  at: string
  key: string
}

/** The public identifier of an event's request; null if it has none. Data is JSON as bytes. */
const requestOf = `coalesce(t.content_id, substring(convert_from(t.data, 'UTF8') from '"request_id":"(req_[0-9a-z]{26})"'))`
const byName = `exists (select from erased_requests x where x.project_id = t.project_id and x.request = ${requestOf})`
const byUuid =
  'exists (select from erased_requests x where x.project_id = t.project_id and x.request_id = t.request_id)'

/**
 * Events, deliveries with their attempts, the index of dead letters, reviews, suppressions, and the notes of
 * the sweep.
 */
export const traceTables: readonly TraceTable[] = [
  { name: 'event_outbox', time: 'created_at', key: 'seq', keyType: 'bigint', ofErased: byName },
  { name: 'webhook_deliveries', time: 'event_created_at', key: 'id', keyType: 'uuid', ofErased: byName },
  { name: 'dead_letters', time: 'dead_at', key: 'id', keyType: 'uuid', ofErased: byUuid },
  { name: 'score_reviews', time: 'created_at', key: 'id', keyType: 'uuid', ofErased: byUuid },
  { name: 'suppressions', time: 'created_at', key: 'id', keyType: 'uuid', ofErased: byUuid },
  { name: 'swept_calls', time: 'swept_at', key: 'request_id', keyType: 'uuid', ofErased: byUuid },
]

const dayMs = 86_400_000

/**
 * Where to begin the search for traces of an erasure's calls: nothing is older than the first call's
 * identifier, with a day to spare for clocks. Undefined, for the beginning: for a whole project, or if that
 * time is not in the past.
 */
export async function findFirstTrace(
  client: ClientBase,
  { id, scope, requested_at }: OpenErasure,
): Promise<Date | undefined> {
  if (scope === 'project') return undefined
  const { rows } = await client.query<{ request_id: string }>(
    'select request_id from erased_requests where erasure_id = $1 order by request_id limit 1',
    [id],
  )
  const [first] = rows
  if (first === undefined) return undefined
  const firstMs = idTimeMs(idFromUuid('request', first.request_id))
  return firstMs <= requested_at.getTime() ? new Date(Math.max(0, firstMs - dayMs)) : undefined
}

/** The position before all rows of that time. */
export function placeAt({ keyType }: TraceTable, time: Date): Place {
  return { at: time.toISOString(), key: keyType === 'bigint' ? '0' : '00000000-0000-0000-0000-000000000000' }
}

/**
 * Reads the next `limit` rows of the erasure's project and deletes those of erased calls; for a whole
 * project, all rows until the erasure's request. Returns where it stopped; undefined at the end.
 */
export async function eraseTraces(
  client: ClientBase,
  { name, time, key, keyType, ofErased }: TraceTable,
  { project_id, scope, requested_at }: OpenErasure,
  after: Place | undefined,
  limit: number,
): Promise<Place | undefined> {
  const { rows } = await client.query<Place & { seen: number }>(
    `with page as materialized (
       select t.${time} as at, t.${key} as key from ${name} t
       where t.project_id = $1 and ($4::timestamptz is null or (t.${time}, t.${key}) > ($4, $5::${keyType}))
       order by t.${time}, t.${key} limit $6
     ), gone as (
       delete from ${name} t using page where t.project_id = $1 and t.${key} = page.key
         and (($2 and t.${time} <= $3) or ${ofErased})
     )
     select page.at::text, page.key::text, (select count(*) from page)::integer as seen
     from page order by page.at desc, page.key desc limit 1`,
    [project_id, scope === 'project', requested_at, after?.at ?? null, after?.key ?? null, limit],
  )
  return rows[0]?.seen === limit ? rows[0] : undefined
}

const hourMs = 3_600_000

/**
 * Deletes a project's tool names and definitions, and its roll-ups of hours and days that ended before its
 * erasure's request: at most `limit` rows of each. Returns how many. Call it while nobody folds: a fold would
 * write these hours again.
 */
export async function eraseCounts(
  client: ClientBase,
  { project_id, requested_at }: OpenErasure,
  limit: number,
): Promise<number> {
  const tools = await client.query(
    `delete from seen_tools where project_id = $1 and tool_name in (
       select tool_name from seen_tools where project_id = $1 and first_seen_at <= $2 limit $3)`,
    [project_id, requested_at, limit],
  )
  // Those seen since go too: the next list brings them back.
  const definitions = await client.query(
    `delete from tool_definitions where (project_id, server, tool_name) in (
       select project_id, server, tool_name from tool_definitions where project_id = $1 limit $2)`,
    [project_id, limit],
  )
  let deleted = (tools.rowCount ?? 0) + (definitions.rowCount ?? 0)
  const [hour, day] = [startOf(hourMs, requested_at), startOf(dayMs, requested_at)]
  const ended = [
    ...rollupTables.flatMap((table) => [
      [table.name, 'hour', hour] as const,
      [dayTableOf(table), 'hour', day] as const,
    ]),
    ...minuteTables.map(({ name }) => [name, 'minute', hour] as const),
  ]
  for (const [name, time, before] of ended) {
    const { rowCount } = await client.query(
      `delete from ${name} where (project_id, ${time}, series, lane) in (
         select project_id, ${time}, series, lane from ${name} where project_id = $1 and ${time} < $2 limit $3)`,
      [project_id, before, limit],
    )
    deleted += rowCount ?? 0
  }
  return deleted
}

const startOf = (unitMs: number, time: Date) => new Date(time.getTime() - (time.getTime() % unitMs))

/**
 * Deletes a project's roll-ups of the hour of its erasure's request, and of later hours with calls of clients
 * whose clocks are ahead. Hours with calls made afterwards stay, without the names of users who made none.
 * Counts their days again, and deletes tool names first seen so far ahead that no roll-up has them. Call it
 * while nobody folds.
 */
export async function eraseLastHours(
  client: ClientBase,
  rollups: RollupStore,
  { project_id, requested_at }: OpenErasure,
): Promise<void> {
  const latest = new Date(requested_at.getTime() + clientsAheadMs)
  const [from, last] = [startOf(hourMs, requested_at), startOf(hourMs, latest)]
  // Rows are locked before the search for such calls: a sink that adds to one has committed its calls, or
  // waits and makes the row again.
  for (const { name } of rollupTables) {
    await client.query(
      `select from ${name} where project_id = $1 and hour between $2 and $3 order by hour, series, lane for update`,
      [project_id, from, last],
    )
  }
  for (const { name } of minuteTables) {
    await client.query(
      `select from ${name} where project_id = $1 and minute >= $2 and minute < $3::timestamptz + interval '1 hour'
       order by minute, series, lane for update`,
      [project_id, from, last],
    )
  }
  for (let hour = from; hour <= last; hour = new Date(hour.getTime() + hourMs)) {
    await client.query(eraseHourSql, [project_id, hour, new Date(hour.getTime() + hourMs)])
  }
  const days = [...new Set([from, last].map((hour) => startOf(dayMs, hour).getTime()))]
  for (const table of rollupTables) {
    await recountDays(
      client,
      table,
      days.map((day) => ({ project_id, day: new Date(day) })),
    )
  }
  const { rows: users } = await client.query<ErasedCall>(
    `select distinct user_id, hour as created_at from user_rollups where project_id = $1 and hour between $2 and $3`,
    [project_id, from, last],
  )
  await eraseUserCounts(client, rollups, project_id, users)
  await client.query(eraseToolsAheadSql, [project_id, requested_at, latest, from])
}

// All tables in one statement: what a sink commits between two would be missing from one of them.
const eraseHourSql = `
  with later as materialized (
    select from llm_requests where project_id = $1 and created_at >= $2 and created_at < $3 limit 1
  ), ${rollupTables
    .map(
      ({ name }) =>
        `of_${name} as (delete from ${name} where project_id = $1 and hour = $2 and not exists (select from later))`,
    )
    .join(', ')}, ${minuteTables
    .map(
      ({ name }) =>
        `of_${name} as (delete from ${name} where project_id = $1 and minute >= $2 and minute < $3 and not exists (select from later))`,
    )
    .join(', ')}
  select`

// A later call, or one counted with it, has the name. Attacks do not make tools known.
const eraseToolsAheadSql = `
  delete from seen_tools s where s.project_id = $1 and s.first_seen_at > $2 and s.first_seen_at <= $3 and not exists (
    select from tool_rollups t
    where t.project_id = $1 and t.hour >= $4 and t.tool_name = s.tool_name and t.source <> 'redteam')`
