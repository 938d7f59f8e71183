import type { Principal } from '#services/ingest/access/principal.ts'
import { notFound } from '../http/not-found.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { findRedteamRun, type RedteamRun } from '../stores/redteam-store.ts'

/** In the first of the projects that has it: a link to a run (`report_url`) does not say its project. Throws 404 when none has. */
export async function findRun(
  databases: ProjectDatabases,
  principal: Principal,
  requested: string | undefined,
  id: string,
): Promise<RedteamRun> {
  for (const database of databases.each(principal, requested)) {
    const run = await findRedteamRun(database, id)
    if (run !== undefined) return run
  }
  throw notFound('run', id)
}
