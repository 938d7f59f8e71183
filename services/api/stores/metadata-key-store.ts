import type { CountedKey } from '#schemas/call-labels.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

/** The keys that the project declares, by name. Undefined: unknown project. */
export async function readMetadataKeys(
  database: ProjectDatabase<OneProject>,
): Promise<CountedKey[] | undefined> {
  const [row] = await database.query<{ metadata_keys: CountedKey[] }>(
    'select p.metadata_keys from subscriptions u join projects p on p.id = u.project_id where :scope(u)',
  )
  return row?.metadata_keys
}
