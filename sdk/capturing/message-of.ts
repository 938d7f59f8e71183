import { fieldAt, textOf } from '../../capture/json.ts'

/** What went wrong, in the words of the error, as ingest takes it: within 8,192 characters, none of them NUL or halved. Never throws: a program may throw anything. */
export function messageOf(error: unknown): string {
  try {
    const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return `${words}${causeOf(error)}`.slice(0, 2_000).replace(/[\0\p{Surrogate}]/gu, '\ufffd')
  } catch {
    return 'an error that has no text'
  }
}

/** Fetch says of every call that breaks on the way that it failed, and of nothing else why. Of several addresses tried there is a code alone. */
function causeOf(error: unknown): string {
  const said = textOf(fieldAt(error, 'cause', 'message')) ?? textOf(fieldAt(error, 'cause', 'code'))
  return said === undefined ? '' : ` (${said})`
}
