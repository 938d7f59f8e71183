import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'

export interface PossibleOwner {
  id: string
  login: string
  name: string
}

const maxOwners = 500
const seesProject = (project: string) => `p.disabled_at is null and (p.role = 'admin'
  or exists (select from people_projects a where a.person_id = p.id and a.project_id = ${project}))`

/** The active users who see the project, by login; the first 500. */
export async function listOwners(operatorPool: Pool, projectId: string): Promise<PossibleOwner[]> {
  const { rows } = await query<PossibleOwner>(
    operatorPool,
    `select p.id, p.login, p.name from people p where ${seesProject('$1')} order by p.login limit $2`,
    [idToUuid(projectId), maxOwners],
  )
  return rows.map((row) => ({ ...row, id: idFromUuid('person', row.id) }))
}

/** The login of an active user who sees the project. Undefined: there is none. */
export async function findOwner(
  operatorPool: Pool,
  projectId: string,
  personId: string,
): Promise<string | undefined> {
  const { rows } = await query<{ login: string }>(
    operatorPool,
    `select p.login from people p where p.id = $1 and ${seesProject('$2')}`,
    [idToUuid(personId), idToUuid(projectId)],
  )
  return rows[0]?.login
}
