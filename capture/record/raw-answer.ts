import { isChunked, joinPieces } from '../streams/join-pieces.ts'

/** Called when an answer is recorded unparsed because of a defect in our parser. */
export type OnDefect = (error: unknown) => void

/**
 * The JSON of an answer that is recorded as text. A chunked answer gets `joined`, the concatenated strings of
 * its chunks, which also marks it as chunked. `joined` is empty beyond `maxBytes`, or after `onDefect`.
 */
export function rawAnswerJson(raw: string, maxBytes: number, onDefect: OnDefect, isStream = false): string {
  const wrapper = { raw, encoding: 'utf8' }
  try {
    if (!isStream && !isChunked(raw)) return JSON.stringify(wrapper)
    const json = JSON.stringify({ ...wrapper, joined: joinPieces(raw) })
    if (Buffer.byteLength(json) <= maxBytes) return json
  } catch (error) {
    // Keep the raw answer as evidence when our parser fails.
    if (!(error instanceof RangeError)) onDefect(error)
  }
  return JSON.stringify({ ...wrapper, joined: [] })
}
