import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg'
import { inTransaction, query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'

/** One transaction in which only rows of this project exist (infra/row-security.ts). */
export function inProjectTransaction<T>(
  pool: Pool,
  projectId: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  // One round trip for both.
  return inTransaction(pool, work, `begin; ${nameProject(projectId)}`)
}

/**
 * One statement in which only rows of this project exist, in one round trip instead of three. It has no parameters, because Postgres takes them for a
 * single statement alone: whatever `text` holds is the caller's own or has nothing to escape.
 */
export async function queryInProject<R extends QueryResultRow>(
  pool: Pool,
  projectId: string,
  text: string,
): Promise<R[]> {
  // What is sent together is one transaction, which an error rolls back.
  const results = await query(pool, `${nameProject(projectId)}; ${text}`)
  const [, result] = results as unknown as [QueryResult, QueryResult<R>]
  return result.rows
}

/** A UUID made from bytes holds nothing to escape. */
function nameProject(projectId: string): string {
  return `set local sluice.project = '${idToUuid(projectId)}'`
}
