import { fieldAt, textOf } from '../../../capture/json.ts'
import { wordsToRecord } from './credentials.ts'

const maxCharacters = 2_000
/** Some credentials are recognised by what follows them, so the text is truncated only after redaction. */
const maxLookedThrough = 64 * 1024

/**
 * An error message without credentials, in a form that ingest accepts. Never throws, although programs may
 * throw anything.
 */
export function messageOf(error: unknown): string {
  try {
    const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    const said = wordsToRecord(`${words}${causeOf(error)}`.slice(0, maxLookedThrough))
    return said.slice(0, maxCharacters).replace(/[\0\p{Surrogate}]/gu, '\ufffd')
  } catch {
    return 'an error without a message'
  }
}

/** Fetch gives the reason only in `cause`; for several addresses only as a code. */
function causeOf(error: unknown): string {
  const said = textOf(fieldAt(error, 'cause', 'message')) ?? textOf(fieldAt(error, 'cause', 'code'))
  return said === undefined ? '' : ` (${said})`
}
