import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '#runtime/postgres.ts'

/** Runs `work` in one transaction, unless another sink holds the advisory lock: then it resolves to undefined. */
export function inElectedTransaction<T>(
  pool: Pool,
  lock: number,
  work: (client: PoolClient) => Promise<T>,
): Promise<T | undefined> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ elected: boolean }>(
      'select pg_try_advisory_xact_lock($1) as elected',
      [lock],
    )
    return rows[0]?.elected === true ? work(client) : undefined
  })
}

/** The same, but waits for the lock: for steps of what was begun, which would never end if it gave up whenever another sink is at work. */
export function inTurn<T>(pool: Pool, lock: number, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [lock])
    return work(client)
  })
}
