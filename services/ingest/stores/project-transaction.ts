import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'

/** What the API's connections are: they see a project's rows in a transaction that names it, and otherwise none. */
export const projectRole = 'sluice_api'

/** One transaction in which only rows of this project exist (infra/row-security.ts). */
export function inProjectTransaction<T>(
  pool: Pool,
  projectId: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  // One round trip for both. A UUID made from bytes holds nothing to escape.
  return inTransaction(pool, work, `begin; set local sluice.project = '${idToUuid(projectId)}'`)
}
