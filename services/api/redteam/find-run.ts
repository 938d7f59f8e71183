import type { Principal } from '#http/access/principal.ts'
import { found } from '#http/problem.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { findRedteamRun, type RedteamRun } from '../stores/redteam-store.ts'

/** In whichever of their projects it is: a link to a run (`report_url`) does not say its project. Throws 404 when none has. */
export async function findRun(
  databases: ProjectDatabases,
  principal: Principal,
  requested: string | undefined,
  id: string,
): Promise<RedteamRun> {
  return found(await findRedteamRun(databases.ofAny(principal, requested), id), 'run', id)
}
