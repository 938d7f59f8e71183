import { fieldAt, textOf } from './json.ts'

const maxLength = 2_000

/** What an answer says of a failure, in a form that ingest takes; null where it says nothing. Takes any JSON and never throws. */
export function errorOfAnswer(responseBody: unknown): string | null {
  const said = textOf(fieldAt(responseBody, 'error', 'message')) ?? textOf(fieldAt(responseBody, 'error'))
  return said?.slice(0, maxLength).toWellFormed().replaceAll('\u0000', '\ufffd') ?? null
}
