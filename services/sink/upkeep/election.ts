import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '#runtime/postgres.ts'

/** Advisory locks of the upkeep jobs, the same in every sink. The transaction that holds one is elected. */
export const upkeepLocks = {
  maintenance: 7_355_609,
  sweep: 7_355_610,
  retention: 7_355_611,
  rollupFolding: 7_355_612,
  quotaClaims: 7_355_613,
  erasing: 7_355_614,
  verdicts: 7_355_615,
  alertRules: 7_355_617,
} as const

type Work<T> = (client: PoolClient) => Promise<T>

export interface Election {
  /** Runs `work` in a transaction that holds the lock. Resolves to `not_elected` if another sink holds it. */
  elect: <T>(work: Work<T>) => Promise<T | 'not_elected'>
  /** Waits for the lock instead. For the later steps of a job, which would never end if they gave up. */
  inTurn: <T>(work: Work<T>) => Promise<T>
}

/** Elects one of the sinks that compete for `lock`. The lock ends with the transaction. */
export function createElection(pool: Pool, lock: number): Election {
  return {
    elect: (work) =>
      inTransaction(pool, async (client) => {
        const { rows } = await client.query<{ elected: boolean }>(
          'select pg_try_advisory_xact_lock($1) as elected',
          [lock],
        )
        return rows[0]?.elected === true ? work(client) : 'not_elected'
      }),
    inTurn: (work) =>
      inTransaction(pool, async (client) => {
        await holdLock(client, lock)
        return work(client)
      }),
  }
}

/** Waits for an advisory lock, which the transaction then holds until it ends. */
export async function holdLock(client: PoolClient, lock: number): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1)', [lock])
}
