import { codeOf } from '#runtime/errors.ts'

/**
 * The cause that fetch wraps. With several addresses for a host there is a code and no message. fetch's own
 * message may contain credentials from the URL.
 */
export function whyFetchFailed(error: unknown): string {
  if (!Error.isError(error)) return 'the request cannot be made'
  if (error.name === 'TimeoutError') return 'no answer in time'
  const { cause } = error
  if (!Error.isError(cause)) return 'the request cannot be made'
  return cause.message || codeOf(cause)
}
