import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'

/** The login of an active user who sees the project. Undefined: there is none. */
export async function findOwner(
  operatorPool: Pool,
  projectId: string,
  personId: string,
): Promise<string | undefined> {
  const { rows } = await query<{ login: string }>(
    operatorPool,
    `select p.login from people p where p.id = $1 and p.disabled_at is null
       and (p.role = 'admin' or exists (select from people_projects a where a.person_id = p.id and a.project_id = $2))`,
    [idToUuid(personId), idToUuid(projectId)],
  )
  return rows[0]?.login
}
