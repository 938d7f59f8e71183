import { codeOf } from '#runtime/errors.ts'

/** What fetch wraps; of a host with several addresses there is a code and no message. Its own message may have credentials of the URL in it. */
export function whyFetchFailed(error: unknown): string {
  if (!Error.isError(error)) return 'the request cannot be made'
  if (error.name === 'TimeoutError') return 'no answer in time'
  const { cause } = error
  if (!Error.isError(cause)) return 'the request cannot be made'
  return cause.message || codeOf(cause)
}
