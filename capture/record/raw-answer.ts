import { isInPieces, joinPieces } from '../streams/join-pieces.ts'

/** Told what went wrong where an answer is recorded as it came because of a mistake of ours. */
export type OnDefect = (error: unknown) => void

/**
 * The JSON of an answer that stands in a record as the text that it came as. Beside one in pieces stands what their strings amount to (`joined`),
 * which says too that its words were in pieces: nothing where that takes it beyond `maxBytes`, or `onDefect` was told.
 */
export function rawAnswerJson(raw: string, maxBytes: number, onDefect: OnDefect, isStream = false): string {
  const wrapper = { raw, encoding: 'utf8' }
  try {
    if (!isStream && !isInPieces(raw)) return JSON.stringify(wrapper)
    const json = JSON.stringify({ ...wrapper, joined: joinPieces(raw) })
    if (Buffer.byteLength(json) <= maxBytes) return json
  } catch (error) {
    // What came is evidence, whatever a mistake of ours makes of it.
    if (!(error instanceof RangeError)) onDefect(error)
  }
  return JSON.stringify({ ...wrapper, joined: [] })
}
