import { fieldAt, listOf, objectOf, parseJson, textOf, type JsonObject } from './json.ts'

const maxLength = 2_000
/** NUL and lone surrogates. Node 18, which the SDK supports, has no `toWellFormed`. */
const unstorable = /[\0\p{Surrogate}]/gu

/**
 * The error message of an answer, in a form that ingest accepts; null without one. Accepts any JSON and never
 * throws.
 */
export function errorOfAnswer(responseBody: unknown, status: number | null = null): string | null {
  const said =
    textOf(fieldAt(responseBody, 'error', 'message')) ??
    textOf(fieldAt(responseBody, 'error')) ??
    // Successful answers may have members of these names.
    (status !== null && status >= 400 ? saidInFailure(responseBody) : undefined)
  return said === undefined ? null : errorText(said)
}

/** An error from a body, as it is recorded. */
export function errorText(said: string): string {
  return said.slice(0, maxLength).replace(unstorable, '\ufffd')
}

/**
 * Errors of Cohere, Mistral and Bedrock, and of FastAPI servers (vLLM), which list what is wrong with a
 * request.
 */
function saidInFailure(body: unknown): string | undefined {
  const message = fieldAt(body, 'message')
  const detail = fieldAt(body, 'detail') ?? fieldAt(message, 'detail')
  return textOf(message) ?? textOf(detail) ?? textOf(fieldAt(listOf(detail)[0], 'msg'))
}

/** Errors are short, and answers that are lists may be long. */
const maxListedUnits = 65_536

/** The error of an answer that is a JSON list, as Gemini's is in OpenAI's clients. */
export function errorListed(text: string): JsonObject | undefined {
  if (text.length > maxListedUnits || !/^\s*\[/.test(text)) return undefined
  const first = objectOf(listOf(parseJson(text))[0])
  return first !== undefined && Boolean(first['error']) ? first : undefined
}
