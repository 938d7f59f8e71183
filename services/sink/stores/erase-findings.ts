import type { ClientBase } from 'pg'
import { idFromUuid, idToUuid, liveRunId } from '#schemas/ids.ts'
import type { OpenErasure } from './erase-calls.ts'
import { repairValues } from './repair-values.ts'

/** Calls whose values are looked for among others at once. */
const callsAtOnce = 100
/** A finding may have thousands of values. */
const findingsAtOnce = 100

/**
 * Takes what findings keep of erased calls: values that no other call has, and comments on findings without a
 * call, which may quote them. The counts stay. Returns how many rows it changed.
 */
export async function eraseEvidence(
  client: ClientBase,
  { id, project_id }: OpenErasure,
  limit: number,
): Promise<number> {
  const { rows } = await client.query<{ request_id: string }>(
    `select distinct v.last_request_id as request_id from erased_requests x
     join finding_values v on v.project_id = x.project_id and v.last_request_id = x.request_id where x.erasure_id = $1 limit $2`,
    [id, callsAtOnce],
  )
  if (rows.length > 0) {
    const liveRunUuid = idToUuid(liveRunId(idFromUuid('project', project_id)))
    await repairValues(
      client,
      { projectUuid: project_id, liveRunUuid },
      rows.map(({ request_id }) => request_id),
    )
    return rows.length
  }
  const { rowCount } = await client.query(
    `delete from finding_comments where (project_id, id) in (
       select c.project_id, c.id from finding_comments c where c.project_id = $1 and not exists (
         select from safety_scores s where s.project_id = c.project_id and s.finding_id = c.finding_id) limit $2)`,
    [project_id, limit],
  )
  return rowCount ?? 0
}

/** Deletes an erased project's findings with all that belongs to them. Returns how many. */
export async function eraseFindings(
  client: ClientBase,
  { project_id, requested_at }: OpenErasure,
  limit: number,
): Promise<number> {
  const { rowCount } = await client.query(
    `delete from findings where project_id = $1 and id in (
       select id from findings where project_id = $1 and created_at <= $2 order by id limit $3)`,
    [project_id, requested_at, Math.min(limit, findingsAtOnce)],
  )
  return rowCount ?? 0
}
