import type { ClientBase } from 'pg'
import type { CallPlace } from './lock-calls.ts'
import { timeBounds } from './time-bounds.ts'

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
 * Deletes the comments on those of the findings that have no call left: they may quote an erased one.
 * Comments on findings whose calls only expired stay.
 */
export async function eraseComments(
  client: ClientBase,
  projectUuid: string,
  findingUuids: readonly string[],
): Promise<void> {
  if (findingUuids.length === 0) return
  // The deletion looks at every day's partition, and so locks them all: only where there are comments.
  const { rowCount } = await client.query(
    'select from finding_comments where project_id = $1 and finding_id = any ($2::uuid[]) limit 1',
    [projectUuid, findingUuids],
  )
  if (rowCount === 0) return
  await client.query(
    `delete from finding_comments c where c.project_id = $1 and c.finding_id = any ($2::uuid[]) and not exists (
       select from safety_scores s where s.project_id = c.project_id and s.finding_id = c.finding_id)`,
    [projectUuid, findingUuids],
  )
}
