import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import { query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'

/** The cost of one request to the judge. */
export interface JudgeSpend {
  usd: number
  promptTokens: number
  completionTokens: number
}

export type Reserved =
  | { kind: 'reserved'; settle: (spend: JudgeSpend) => Promise<void> }
  | { kind: 'refused'; reason: 'budget_spent' | 'no_price' }

/**
 * The judge budget of each project and period, across processes (docs/decisions/0023). Throws TransientError
 * while Postgres is away.
 */
export interface JudgeBudget {
  /** Reserves a request's maximum cost; `usd` null: unknown. `scorers` share the actual cost. */
  reserve(projectId: string, usd: number | null, scorers: readonly string[]): Promise<Reserved>
}

interface BudgetOptions {
  pool: Pool
  /** A cap per project, besides its own budget; null: none. */
  capUsd: number | null
  /** Reservations not settled within this time are released: their process is gone. */
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
        // The answer is paid for: repeating the request because of a failed write would pay twice.
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
