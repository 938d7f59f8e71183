import { TransientError } from '#runtime/errors.ts'
import { asUnstorable, isForeignKeyViolation } from '#runtime/refused-data.ts'

/** `UNSTORABLE` for what Postgres refuses for good. A call erased meanwhile is not found the next time. */
export function asRefusedRecord(error: unknown): unknown {
  if (!isForeignKeyViolation(error)) return asUnstorable(error)
  return new TransientError('CALL_ERASED_MEANWHILE', error.message, { cause: error })
}
