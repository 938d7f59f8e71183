import type { ClientBase } from 'pg'
import { idFromUuid, idToUuid, liveRunId } from '#schemas/ids.ts'
import type { OpenErasure } from './erase-calls.ts'
import type { CallPlace } from './lock-calls.ts'
import { repairValues } from './repair-values.ts'
import { timeBounds } from './time-bounds.ts'

/** Calls whose values are looked for among others at once. */
const callsAtOnce = 100
/** A finding may have thousands of values. */
const findingsAtOnce = 100

/** The findings of calls of one day: read before the calls are deleted with their scores. */
export async function findingsOfCalls(
  client: ClientBase,
  projectUuid: string,
  calls: readonly CallPlace[],
): Promise<string[]> {
  const { rows } = await client.query<{ finding_id: string }>(
    `select distinct finding_id from safety_scores where project_id = $1 and request_id = any ($2::uuid[])
     and finding_id is not null and request_created_at between $3 and $4`,
    [
      projectUuid,
      calls.map(({ id }) => id),
      ...timeBounds(calls, ({ created_at: createdAt }) => createdAt.getTime()),
    ],
  )
  return rows.map(({ finding_id }) => finding_id)
}

/**
 * Deletes the comments on those of the findings that have no call left: they may quote an erased one. Comments
 * on findings whose calls only expired stay.
 */
export async function eraseComments(
  client: ClientBase,
  projectUuid: string,
  findingUuids: readonly string[],
): Promise<void> {
  if (findingUuids.length === 0) return
  await client.query(
    `delete from finding_comments c where c.project_id = $1 and c.finding_id = any ($2::uuid[]) and not exists (
       select from safety_scores s where s.project_id = c.project_id and s.finding_id = c.finding_id)`,
    [projectUuid, findingUuids],
  )
}

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
