import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import { query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'

/** What one request to the judge has cost. */
export interface JudgeSpend {
  usd: number
  promptTokens: number
  completionTokens: number
}

export type Reserved =
  | { kind: 'reserved'; settle: (spend: JudgeSpend) => Promise<void> }
  | { kind: 'refused'; reason: 'budget_spent' | 'no_price' }

/** What the judge may cost a project in a period, over all processes (docs/decisions/0023). Throws TransientError while Postgres is away. */
export interface JudgeBudget {
  /** Sets aside the most that a request can cost, before it is made. `usd` null: nobody knows. `scorers` share what it will have cost. */
  reserve(projectId: string, usd: number | null, scorers: readonly string[]): Promise<Reserved>
}

interface BudgetOptions {
  pool: Pool
  /** Of every project, besides its own; null: none. */
  capUsd: number | null
  /** A reservation that is not settled so long after it was made is given back: its process is gone. */
  leaseMs: number
  clock: Clock
}

const settleTries = 5
const settlePauseMs = 200

export function createJudgeBudget({ pool, capUsd, leaseMs, clock }: BudgetOptions): JudgeBudget {
  const settle = async (
    id: string,
    { usd, promptTokens, completionTokens }: JudgeSpend,
    scorers: readonly string[],
  ) => {
    for (let tried = 1; ; tried++) {
      try {
        await query(pool, 'select settle_judge_usd($1, $2, $3, $4, $5::text[])', [
          id,
          usd,
          promptTokens,
          completionTokens,
          scorers,
        ])
        return
      } catch (error) {
        // The answer has been paid for: asking again because the book could not be written would pay for it twice.
        if (tried === settleTries) throw error
        await clock.sleep(settlePauseMs * 2 ** tried)
      }
    }
  }
  return {
    async reserve(projectId, usd, scorers) {
      const id = randomUUID()
      const { rows } = await query<{ outcome: 'reserved' | 'budget_spent' | 'no_price' }>(
        pool,
        `select reserve_judge_usd($1, $2, $3, $4, $5 * interval '1 millisecond', $6) as outcome`,
        [id, idToUuid(projectId), usd, capUsd, leaseMs, new Date(clock.now())],
      )
      const outcome = rows[0]?.outcome ?? 'budget_spent'
      if (outcome !== 'reserved') return { kind: 'refused', reason: outcome }
      return { kind: 'reserved', settle: (spend) => settle(id, spend, scorers) }
    },
  }
}
