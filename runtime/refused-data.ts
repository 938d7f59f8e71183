import { codeOf, PermanentError } from './errors.ts'

/** Whether a row refers to one that is not there, which may have gone just now. */
export function isForeignKeyViolation(error: unknown): error is Error {
  return Error.isError(error) && codeOf(error) === '23503'
}

/**
 * Where Postgres finds that a value is longer than an index or a row takes, or nested deeper than its stack. Class 54 has other limits besides, which are
 * of the moment: of the transactions that are left before the oldest are vacuumed, for one.
 */
const dataRoutines = new Set([
  ...['_bt_check_third_page', 'index_form_tuple', 'index_form_tuple_context', 'heap_form_tuple'],
  ...['RelationGetBufferForTuple', 'check_stack_depth'],
])

/**
 * PermanentError (`UNSTORABLE`) when Postgres refused the data itself (SQLSTATE class 22: NUL characters, bad JSON, numbers out of range;
 * class 23: a check; of class 54 what is too long), anything else as it is. The consumer then finds the record by halving its batch. Postgres's
 * `detail` quotes values and is left out.
 */
export function asUnstorable(error: unknown): unknown {
  if (!Error.isError(error)) return error
  const state = codeOf(error)
  const isTooLong = state.startsWith('54') && 'routine' in error && dataRoutines.has(String(error.routine))
  if (!isTooLong && !/^2[23]...$/.test(state)) return error
  return new PermanentError('UNSTORABLE', `Postgres refused the record (${state}): ${error.message}`, {
    cause: error,
  })
}
