import { codeOf, PermanentError } from './errors.ts'

/** Whether a row refers to one that is not there, which may have gone just now. */
export function isForeignKeyViolation(error: unknown): error is Error {
  return Error.isError(error) && codeOf(error) === '23503'
}

/**
 * PermanentError (`UNSTORABLE`) when Postgres refused the data itself (SQLSTATE class 22: NUL characters, bad JSON, numbers out of range;
 * class 23: a check; class 54: more than an index or a row takes), anything else as it is. The consumer then finds the record by halving its batch. Postgres's `detail` quotes values and
 * is left out.
 */
export function asUnstorable(error: unknown): unknown {
  const state = codeOf(error)
  if (!Error.isError(error) || !/^(?:2[23]|54)...$/.test(state)) return error
  return new PermanentError('UNSTORABLE', `Postgres refused the record (${state}): ${error.message}`, {
    cause: error,
  })
}
