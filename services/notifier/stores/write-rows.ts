import type pg from 'pg'
import { TransientError } from '#runtime/errors.ts'
import { query, type PreparedStatement } from '#runtime/postgres.ts'
import { asUnstorable, isForeignKeyViolation } from '#runtime/refused-data.ts'

/**
 * As `query`, for values from records and receivers: if Postgres refuses them, the record is at fault, not
 * the process. A delivery that was deleted after it was found is not found the next time.
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
