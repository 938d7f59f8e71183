import { fieldAt, listOf, objectOf, parseJson } from '#capture/json.ts'
import { isChunked } from '#capture/streams/join-pieces.ts'
import { maskJson, maskNested } from './mask-json.ts'
import { findMaskable, replaceFound, type Masker } from './mask-text.ts'

/** Why a body cannot be masked: it was cut, is no text, took too long, or may not wait on disk. */
const maskFaults = ['cut', 'not_text', 'too_slow', 'failed', 'no_spool_key'] as const
export type MaskFault = (typeof maskFaults)[number]

/** A body without what was found in it, or why there is none. */
export type MaskedBody = { json: string } | { fault: MaskFault }

/** Masks the JSON of a body. Bodies that were no JSON objects are masked as the text that they hold. */
export function maskBody(json: string, masker: Masker): MaskedBody {
  const body = objectOf(parseJson(json))
  if (body === undefined) return { fault: 'failed' }
  // What was cut may end within a value, which nobody recognises any more.
  if (body['truncated'] === true)
    return { fault: maskFaults.find((fault) => fault === body['not_masked']) ?? 'cut' }
  if (typeof body['encoding'] === 'string' && body['raw'] !== undefined) return maskWrapped(body, masker)
  return { json: maskJson(json, masker) }
}

/**
 * Of an answer in chunks the joined strings stay and the chunks go: a value may be split over two of them.
 */
function maskWrapped(body: Readonly<Record<string, unknown>>, masker: Masker): MaskedBody {
  const raw = fieldAt(body, 'raw')
  if (body['encoding'] !== 'utf8' || typeof raw !== 'string') return { fault: 'not_text' }
  const joined = listOf(body['joined']).filter((text) => typeof text === 'string')
  if (joined.length > 0) {
    const masked = joined.map((text) => maskText(text, masker))
    return { json: JSON.stringify({ raw: '', encoding: 'utf8', joined: masked }) }
  }
  // JSON as a whole is not in chunks, though it may look so.
  if ((body['joined'] !== undefined || isChunked(raw)) && typeof parseJson(raw) !== 'object')
    return { fault: 'cut' }
  return { json: JSON.stringify({ ...body, raw: maskText(raw, masker) }) }
}

/** A text of its own: JSON or lines of JSON, whose strings are decoded, or any other. */
export function maskText(given: string, masker: Masker): string {
  const isWhole = parseJson(given) !== undefined
  const parts = isWhole ? [given] : given.split('\n')
  const text = parts.map((part) => maskNested(part, masker)).join('\n')
  return replaceFound(text, findMaskable(text), masker)
}
