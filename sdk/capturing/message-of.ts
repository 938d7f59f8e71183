import { fieldAt, textOf } from '../../capture/json.ts'
import { wordsToRecord } from './credentials.ts'

const maxCharacters = 2_000
/** Some credentials are told by what is behind them: none that begins within the others is cut, however long those in front of it were. */
const maxLookedThrough = 64 * 1024

/** What went wrong, in the words of the error without credentials, as ingest takes it: within 8,192 characters, none of them NUL or halved. Never throws: a program may throw anything. */
export function messageOf(error: unknown): string {
  try {
    const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    const said = wordsToRecord(`${words}${causeOf(error)}`.slice(0, maxLookedThrough))
    return said.slice(0, maxCharacters).replace(/[\0\p{Surrogate}]/gu, '\ufffd')
  } catch {
    return 'an error that has no text'
  }
}

/** Fetch says of every call that breaks on the way that it failed, and of nothing else why. Of several addresses tried there is a code alone. */
function causeOf(error: unknown): string {
  const said = textOf(fieldAt(error, 'cause', 'message')) ?? textOf(fieldAt(error, 'cause', 'code'))
  return said === undefined ? '' : ` (${said})`
}
