/**
 * Of what is said of an error the part that cannot quote anybody, for those who may not read or keep what was said: `TypeError` of
 * `TypeError: no customer Jane Doe`. Names and numbers are no codes, so neither digits nor single words count.
 */
export function codeOfError(error: string): string {
  const [name = ''] = error.split(': ', 1)
  if (name.length <= maxLength && kindOfError.test(name)) return name
  return error.length <= maxLength && snakeCase.test(error) ? error : 'error'
}

const maxLength = 64
/** Of a class, of Node (`ECONNRESET`), or of ours (`RATE_LIMITED`). */
const kindOfError = /^(?:[A-Za-z]{0,40}(?:Error|Exception)|E[A-Z]{4,12}|[A-Z]+(?:_[A-Z]+)+)$/
/** Providers' (`context_length_exceeded`), where nothing else is said. */
const snakeCase = /^[a-z]+(?:_[a-z]+)+$/
