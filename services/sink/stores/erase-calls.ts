import type { ClientBase, Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idTimeMs } from '#schemas/ids.ts'
import { dayOf } from './day-partitions.ts'
import { eraseComments, findingsOfCalls } from './erase-comments.ts'
import { eraseUserCounts, type ErasedCall } from './erase-user-counts.ts'
import { lockCalls, type CallPlace } from './lock-calls.ts'
import type { RollupStore } from './rollup-store.ts'
import { timeBounds } from './time-bounds.ts'

/** An open erasure. */
export interface OpenErasure {
  id: string
  project_id: string
  scope: 'request' | 'session' | 'user' | 'project'
  subject: string
  requested_at: Date
  /**
   * Null: calls may be left. Otherwise whether all transactions that may not know of the erasure have ended.
   */
  settled: boolean | null
}

/**
 * Open erasures: those with work to do now first; then each project's oldest, each project's second oldest
 * and so on. By age alone, 3,000 of one project, requested in 15 s, delayed everyone's for minutes.
 */
export async function openErasures(pool: Pool, limit: number): Promise<string[]> {
  const { rows } = await query<{ id: string }>(
    pool,
    `select id from (
       select id, requested_at, ready, row_number() over (partition by project_id, ready order by requested_at) as nth
       from (select *, barrier is null or barrier <= pg_snapshot_xmin(pg_current_snapshot()) as ready
             from erasures where status = 'erasing') open) ranked
     order by ready desc, nth, requested_at limit $1`,
    [limit],
  )
  return rows.map(({ id }) => id)
}

/** Undefined: it is done or does not exist. */
export async function findOpenErasure(client: ClientBase, id: string): Promise<OpenErasure | undefined> {
  const { rows } = await client.query<OpenErasure>(
    `select id, project_id, scope, subject, requested_at, barrier <= pg_snapshot_xmin(pg_current_snapshot()) as settled
     from erasures where status = 'erasing' and id = $1`,
    [id],
  )
  return rows[0]
}

const conditionOf = {
  request: 'id = $2::uuid',
  session: 'session_id = $2',
  user: 'user_id = $2',
  project: `$2 = ''`,
} as const

/**
 * Deletes up to `limit` calls of an erasure with their bodies, scores, details and verdicts, and the names of
 * users in counts that no call is left of. Notes which, so that what comes of them later is recognised.
 * Returns how many. Call it while nobody folds.
 */
export async function eraseCalls(
  client: ClientBase,
  rollups: RollupStore,
  erasure: OpenErasure,
  limit: number,
): Promise<number> {
  const { id: erasureId, project_id, scope, subject, requested_at } = erasure
  // The time in a request's identifier leads to its one day; a session's or a user's calls can be of every
  // day.
  const at = scope === 'request' ? new Date(idTimeMs(idFromUuid('request', subject))) : null
  const { rows: keys } = await client.query<CallPlace & ErasedCall>(
    `select id, created_at, user_id from llm_requests where project_id = $1 and ${conditionOf[scope]}
     and (created_at <= $3 or stored_at <= $3) and ($5::timestamptz is null or created_at = $5) limit $4`,
    [project_id, subject, requested_at, limit, at],
  )
  // A call that was never stored may still have a dead letter.
  await noteErased(client, erasure, scope === 'request' ? [subject] : keys.map(({ id }) => id))
  const findings = new Set<string>()
  const byTime = keys.toSorted((one, other) => one.created_at.getTime() - other.created_at.getTime())
  for (const ofDay of Map.groupBy(byTime, ({ created_at }) => dayOf(created_at.getTime())).values()) {
    await lockCalls(client, project_id, ofDay)
    for (const finding of await findingsOfCalls(client, project_id, ofDay)) findings.add(finding)
    // With these bounds Postgres skips the other days' partitions. Both are parameters: a time plus an
    // interval is known only after planning and locking.
    await client.query(
      `delete from llm_requests r using unnest($2::uuid[], $3::timestamptz[]) as k (id, created_at)
       where r.project_id = $1 and r.id = k.id and r.created_at = k.created_at
       and r.created_at between $4 and $5`,
      [
        project_id,
        ofDay.map(({ id }) => id),
        ofDay.map(({ created_at }) => created_at),
        ...timeBounds(ofDay, ({ created_at }) => created_at.getTime()),
      ],
    )
  }
  if (keys.length === 0) return 0
  await eraseComments(client, project_id, [...findings])
  // A project's counts go as a whole.
  if (scope !== 'project') await eraseUserCounts(client, rollups, project_id, keys)
  await client.query('update erasures set erased_calls = erased_calls + $2, barrier = null where id = $1', [
    erasureId,
    keys.length,
  ])
  return keys.length
}

async function noteErased(
  client: ClientBase,
  { id, project_id }: OpenErasure,
  uuids: readonly string[],
): Promise<void> {
  await client.query(
    `insert into erased_requests select $1, request, request_id, $2
     from unnest($3::text[], $4::uuid[]) as noted (request, request_id) order by request on conflict do nothing`,
    [project_id, id, uuids.map((uuid) => idFromUuid('request', uuid)), uuids],
  )
}

/** Begins to wait for the transactions that may not know of the erasure. */
export async function markEmptied(client: ClientBase, { id }: OpenErasure): Promise<void> {
  await client.query('update erasures set barrier = pg_snapshot_xmax(pg_current_snapshot()) where id = $1', [
    id,
  ])
}

export async function markErased(client: ClientBase, { id }: OpenErasure, now: Date): Promise<void> {
  await client.query(
    `update erasures set status = 'erased', erased_at = $2 where id = $1 and status = 'erasing'`,
    [id, now],
  )
}

/**
 * Deletes notes of calls that Kafka no longer has, and erasures ended over `days` ago: at most 10,000 of
 * each.
 */
export async function forgetErased(client: ClientBase, days: number): Promise<number> {
  const notes = await client.query(
    `delete from erased_requests where (project_id, request) in (
       select x.project_id, x.request from erasures e join erased_requests x on x.erasure_id = e.id
       where e.status = 'erased' and e.kept_in_kafka_until < now() limit 10000)`,
  )
  const erasures = await client.query(
    `delete from erasures where id in (select id from erasures where status = 'erased'
       and kept_in_kafka_until < now() - make_interval(days => $1) order by requested_at limit 10000)`,
    [days],
  )
  return (notes.rowCount ?? 0) + (erasures.rowCount ?? 0)
}
