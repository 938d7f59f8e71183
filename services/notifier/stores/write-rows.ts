import type pg from 'pg'
import { TransientError } from '#runtime/errors.ts'
import { query, type PreparedStatement } from '#runtime/postgres.ts'
import { asUnstorable, isForeignKeyViolation } from '#runtime/refused-data.ts'

/**
 * As `query`, for statements whose values come from records and receivers: what Postgres refuses of them is
 * the record's fault, not the process's. A delivery that went between being found and being referred to is
 * not found the next time.
 */
export async function writeRows<R extends pg.QueryResultRow>(
  pool: pg.Pool,
  statement: string | PreparedStatement,
  values: readonly unknown[],
): Promise<R[]> {
  try {
    return (await query<R>(pool, statement, values)).rows
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw asUnstorable(error)
    throw new TransientError('DELIVERY_GONE_MEANWHILE', error.message, { cause: error })
  }
}
