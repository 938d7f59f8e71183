import { fieldAt, textOf } from './json.ts'

const maxLength = 2_000
/** NUL and halves of characters that take two UTF-16 units. Node 18, where the SDK runs, has no `toWellFormed`. */
const unstorable = /[\0\p{Surrogate}]/gu

/** What an answer says of a failure, in a form that ingest takes; null where it says nothing. Takes any JSON and never throws. */
export function errorOfAnswer(responseBody: unknown, status: number | null = null): string | null {
  const said =
    textOf(fieldAt(responseBody, 'error', 'message')) ??
    textOf(fieldAt(responseBody, 'error')) ??
    // Of Cohere, Mistral and Bedrock. An answer that is none of an error may have members of these names.
    (status !== null && status >= 400 ? textOf(fieldAt(responseBody, 'message')) : undefined)
  return said?.slice(0, maxLength).replace(unstorable, '\ufffd') ?? null
}
