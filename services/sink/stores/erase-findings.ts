import type { ClientBase } from 'pg'
import { idFromUuid, idToUuid, liveRunId } from '#schemas/ids.ts'
import type { OpenErasure } from './erase-calls.ts'
import { repairValues } from './repair-values.ts'

/** Calls whose values are looked for among others at once. */
const callsAtOnce = 100
/** A finding may have thousands of values. */
const findingsAtOnce = 100

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
  const liveRunUuid = idToUuid(liveRunId(idFromUuid('project', project_id)))
  await repairValues(
    client,
    { projectUuid: project_id, liveRunUuid },
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
