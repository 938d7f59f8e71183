import type { ClientBase } from 'pg'
import type { PlacedCall } from '../steps/place-call.ts'

/** Ingest refuses identifiers older than seven days, so a call noted longer ago cannot come again. */
const notedDays = 9

/**
 * Notes calls of the ephemeral topic and returns the identities of new ones. Their rows may come from the
 * other topic, so only these notes tell a new call from a repeated one.
 */
export async function noteEphemeral(client: ClientBase, calls: readonly PlacedCall[]): Promise<Set<string>> {
  const { rows } = await client.query<{ project_id: string; id: string }>(
    `insert into ephemeral_calls (project_id, id)
     select project_id, id from unnest($1::uuid[], $2::uuid[]) as calls (project_id, id)
     order by 1, 2 on conflict do nothing returning project_id, id`,
    [calls.map(({ projectUuid }) => projectUuid), calls.map(({ requestUuid }) => requestUuid)],
  )
  return new Set(rows.map((row) => `${row.project_id}/${row.id}`))
}

/** Deletes notes that are no longer needed, at most 10,000. Returns how many. */
export async function deleteOldEphemeral(client: ClientBase): Promise<number> {
  const { rowCount } = await client.query(
    `delete from ephemeral_calls where (project_id, id) in (
       select project_id, id from ephemeral_calls where noted_at < now() - make_interval(days => $1) limit 10000
     )`,
    [notedDays],
  )
  return rowCount ?? 0
}
