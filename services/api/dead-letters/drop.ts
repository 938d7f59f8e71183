import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { Problem } from '#http/problem.ts'
import { auditDecided, type Actor } from '../stores/audit-store.ts'
import { decideDeadLetters, lockDeadLetters, type DeadLetter } from '../stores/dead-letter-store.ts'

/** The outcome for one letter: dropped (now or before), or why not. */
export type Dropped = { id: string; problem: Problem | null }

/** Marks dead letters as needing nothing more, with a reason. One result for each known letter. */
export type Drop = (by: Actor, ids: readonly string[], reason: string) => Promise<Dropped[]>

/**
 * Takes the same locks as redrive, so that no letter is both. A letter dropped before keeps its first reason.
 */
export function createDrop({ pool, clock }: { pool: Pool; clock: Clock }): Drop {
  return (by, ids, reason) =>
    inTransaction(pool, async (client) => {
      const letters = await lockDeadLetters(client, ids)
      const undecided = letters.filter(({ status }) => status === 'open' || status === 'lost')
      await decideDeadLetters(
        client,
        undecided.map(({ id }) => id),
        { status: 'dropped', reason, nowMs: clock.now() },
      )
      await auditDecided(client, by, 'dead_letter.dropped', undecided, clock.now())
      return letters.map((letter) => ({ id: letter.id, problem: whyNot(letter) }))
    })
}

function whyNot({ id, status }: DeadLetter): Problem | null {
  return status === 'redriven'
    ? new Problem(409, 'DEAD_LETTER_REDRIVEN', `${id} was sent again already`)
    : null
}
