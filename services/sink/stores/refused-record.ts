import { PermanentError, TransientError } from '#runtime/errors.ts'

const foreignKeyViolation = '23503'

/**
 * PermanentError (`UNSTORABLE`) when Postgres refused the data itself (SQLSTATE class 22: NUL characters, bad JSON, numbers out of range;
 * class 23: a check), anything else as it is. The consumer then finds the record by halving its batch. Postgres's
 * `detail` quotes values and is left out.
 */
export function asUnstorable(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error
  // A call that was erased between being found and being referred to is not found the next time.
  if ('code' in error && error.code === foreignKeyViolation)
    return new TransientError('CALL_ERASED_MEANWHILE', error.message, { cause: error })
  if (!/^2[23]/.test(error.code) || error.code.length !== 5) return error
  return new PermanentError('UNSTORABLE', `Postgres refused the record (${error.code}): ${error.message}`, {
    cause: error,
  })
}
