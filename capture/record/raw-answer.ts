import { isInPieces, joinPieces } from '../streams/join-pieces.ts'

/**
 * The JSON of an answer that stands in a record as the text that it came as. Beside one in pieces stands what their strings amount to (`joined`),
 * which says too that its words were in pieces: nothing where that takes it beyond `maxBytes`.
 */
export function rawAnswerJson(raw: string, maxBytes: number, isStream = false): string {
  const wrapper = { raw, encoding: 'utf8' }
  if (!isStream && !isInPieces(raw)) return JSON.stringify(wrapper)
  const json = JSON.stringify({ ...wrapper, joined: joinPieces(raw) })
  return Buffer.byteLength(json) <= maxBytes ? json : JSON.stringify({ ...wrapper, joined: [] })
}
