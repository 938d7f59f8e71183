import { fieldAt, listOf, objectOf, parseJson, textOf, type JsonObject } from './json.ts'

const maxLength = 2_000
/** NUL and halves of characters that take two UTF-16 units. Node 18, where the SDK runs, has no `toWellFormed`. */
const unstorable = /[\0\p{Surrogate}]/gu

/** What an answer says of a failure, in a form that ingest takes; null where it says nothing. Takes any JSON and never throws. */
export function errorOfAnswer(responseBody: unknown, status: number | null = null): string | null {
  const said =
    textOf(fieldAt(responseBody, 'error', 'message')) ??
    textOf(fieldAt(responseBody, 'error')) ??
    // An answer that is none of an error may have members of these names.
    (status !== null && status >= 400 ? saidInFailure(responseBody) : undefined)
  return said === undefined ? null : errorText(said)
}

/** An error out of a body, as a record takes it. */
export function errorText(said: string): string {
  return said.slice(0, maxLength).replace(unstorable, '\ufffd')
}

/** Of Cohere, Mistral and Bedrock; of whatever runs on FastAPI (vLLM), which says in a list what is wrong with a request. */
function saidInFailure(body: unknown): string | undefined {
  const message = fieldAt(body, 'message')
  const detail = fieldAt(body, 'detail') ?? fieldAt(message, 'detail')
  return textOf(message) ?? textOf(detail) ?? textOf(fieldAt(listOf(detail)[0], 'msg'))
}

/** Errors say little, and answers that are lists may be long. */
const maxListedUnits = 65_536

/** The answer that stands in a list when it is an error (Gemini's, as OpenAI's clients call it), out of its JSON text. */
export function errorListed(text: string): JsonObject | undefined {
  if (text.length > maxListedUnits || !/^\s*\[/.test(text)) return undefined
  const first = objectOf(listOf(parseJson(text))[0])
  return first !== undefined && Boolean(first['error']) ? first : undefined
}
