import type { ClientBase } from 'pg'
import { idFromUuid, idToUuid, liveRunId } from '#schemas/ids.ts'
import { erasedCall } from '#schemas/finding.ts'
import type { OpenErasure } from './erase-calls.ts'
import { repairValues } from './repair-values.ts'

/** Calls whose values are looked for among others at once. */
const callsAtOnce = 100
/** A finding may have thousands of values. */
const findingsAtOnce = 100

const isErased = (column: string) =>
  `${column} in (select x.request_id from erased_requests x where x.erasure_id = $2)`

/**
 * Takes erased calls out of the counters that name them: as the last one the newest stored call takes its
 * place. A first one has no other: what came later was not the first. Comes before the search for events of
 * erased calls: a person's change raises one that names the last call. Returns how many findings it changed.
 */
export async function eraseNamesInCounters(
  client: ClientBase,
  { id, project_id }: OpenErasure,
): Promise<number> {
  // The lock waits for people's changes. Their events are then there to be found.
  const { rows } = await client.query<{ id: string }>(
    `select f.id from findings f where f.project_id = $1 and f.id in (
       select c.finding_id from finding_counters c where c.project_id = $1
       and (${isErased('c.first_request_id')} or ${isErased('c.last_request_id')}))
     order by f.id limit $3 for no key update`,
    [project_id, id, findingsAtOnce],
  )
  if (rows.length === 0) return 0
  await client.query(
    `with named as materialized (
       select c.finding_id, c.lane from finding_counters c where c.project_id = $1 and c.finding_id = any ($3::uuid[])
       and (${isErased('c.first_request_id')} or ${isErased('c.last_request_id')}) order by 1, 2 for no key update
     )
     update finding_counters c set
       first_request_id = case when ${isErased('c.first_request_id')} then $4 else c.first_request_id end,
       last_request_id = case when ${isErased('c.last_request_id')} then coalesce((
         select s.request_id from safety_scores s where s.project_id = $1 and s.finding_id = c.finding_id and s.run_id = $5
         order by s.request_created_at desc, s.id desc limit 1), $4) else c.last_request_id end
     from named n where c.project_id = $1 and c.finding_id = n.finding_id and c.lane = n.lane`,
    [project_id, id, rows.map((row) => row.id), erasedCall, liveRunOf(project_id)],
  )
  return rows.length
}

/** The same for values, of which `eraseEvidence` moves or deletes those that an erased call had last. */
export async function eraseNamesInValues(
  client: ClientBase,
  { id, project_id }: OpenErasure,
  limit: number,
): Promise<number> {
  const { rowCount } = await client.query(
    `with named as materialized (
       select v.finding_id, v.hash, v.lane from finding_values v where v.project_id = $1 and ${isErased('v.first_request_id')}
       order by 1, 2, 3 limit $3 for no key update
     )
     update finding_values v set first_request_id = $4 from named n
     where v.project_id = $1 and v.finding_id = n.finding_id and v.hash = n.hash and v.lane = n.lane`,
    [project_id, id, limit, erasedCall],
  )
  return rowCount ?? 0
}

const liveRunOf = (projectUuid: string) => idToUuid(liveRunId(idFromUuid('project', projectUuid)))

/**
 * Takes the values of erased calls that no other call has. The counts of findings stay. Returns how many rows
 * it changed.
 */
export async function eraseEvidence(client: ClientBase, { id, project_id }: OpenErasure): Promise<number> {
  const { rows } = await client.query<{ request_id: string }>(
    `select distinct v.last_request_id as request_id from erased_requests x
     join finding_values v on v.project_id = x.project_id and v.last_request_id = x.request_id where x.erasure_id = $1 limit $2`,
    [id, callsAtOnce],
  )
  if (rows.length === 0) return 0
  await repairValues(
    client,
    { projectUuid: project_id, liveRunUuid: liveRunOf(project_id) },
    rows.map(({ request_id }) => request_id),
  )
  return rows.length
}

/**
 * Deletes an erased project's findings with all that belongs to them. Those with calls that came after the
 * request stay, without comments from before it. Returns how many rows.
 */
export async function eraseFindings(
  client: ClientBase,
  { project_id, requested_at }: OpenErasure,
  limit: number,
): Promise<number> {
  const { rowCount } = await client.query(
    `delete from findings where project_id = $1 and id in (
       select f.id from findings f where f.project_id = $1 and f.created_at <= $2 and not exists (
         select from safety_scores s where s.project_id = $1 and s.finding_id = f.id) order by f.id limit $3)`,
    [project_id, requested_at, Math.min(limit, findingsAtOnce)],
  )
  const comments = await client.query(
    `delete from finding_comments where (project_id, id) in (
       select project_id, id from finding_comments where project_id = $1 and created_at <= $2 limit $3)`,
    [project_id, requested_at, limit],
  )
  return (rowCount ?? 0) + (comments.rowCount ?? 0)
}
