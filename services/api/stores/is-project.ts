import type { OneProject, ProjectDatabase } from './project-database.ts'

/** Why something was not added to a project: it has as many as it may. Counted again, there might be room by now. */
export async function isProject(database: ProjectDatabase<OneProject>): Promise<boolean> {
  return (await database.query('select from subscriptions p where :scope(p)')).length > 0
}
