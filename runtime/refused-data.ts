import { codeOf, PermanentError } from './errors.ts'

/** Whether a row refers to one that does not exist, perhaps since a moment ago. */
export function isForeignKeyViolation(error: unknown): error is Error {
  return Error.isError(error) && codeOf(error) === '23503'
}

/**
 * Postgres routines that refuse a value too long for an index or row, or too deep for the stack. Class 54
 * also has limits that pass, such as transactions left before the oldest are vacuumed.
 */
const dataRoutines = new Set([
  ...['_bt_check_third_page', 'index_form_tuple', 'index_form_tuple_context', 'heap_form_tuple'],
  ...['RelationGetBufferForTuple', 'check_stack_depth'],
])

/**
 * PermanentError (`UNSTORABLE`) when Postgres refuses the data itself: SQLSTATE class 22 (NUL characters, bad
 * JSON, numbers out of range), a check of class 23, or excessive length of class 54. Any other error
 * unchanged. The consumer then finds the record by halving its batch. Postgres's `detail` quotes values and
 * is left out.
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
