import { createHash } from 'node:crypto'
import { assembleStream } from '../../capture/streams/assemble-stream.ts'
import { objectOf, parseJson } from '../../capture/json.ts'
import type { KeptBytes } from './kept-body.ts'

/**
 * A body as it stands in a record: the text itself when it is a JSON object, the message that a stream amounts to,
 * `{"raw", "encoding"}` otherwise; `{"truncated", "bytes", "sha256", "text"}` when it was not kept whole.
 */
export function bodyJson(kept: KeptBytes, contentType = 'application/json'): string {
  if (kept.sha256 !== undefined) return truncatedJson(kept.text, kept.byteLength, kept.sha256)
  if (contentType.startsWith('application/json'))
    return objectOf(parseJson(kept.text)) === undefined ? rawJson(kept.text) : kept.text
  const assembled = assembleStream(kept.text)?.body ?? lastOfLines(kept.text)
  if (assembled !== undefined) return JSON.stringify(assembled)
  return objectOf(parseJson(kept.text)) === undefined ? rawJson(kept.text) : kept.text
}

/** JSON text of a value that is no object is wrapped; text over `maxBytes` is cut. */
export function boundedJson(json: string, maxBytes: number): string {
  const byteLength = Buffer.byteLength(json)
  if (byteLength <= maxBytes) return json
  const sha256 = createHash('sha256').update(json).digest('hex')
  return truncatedJson(json.slice(0, maxBytes >> 1), byteLength, sha256)
}

function rawJson(raw: string): string {
  return JSON.stringify({ raw, encoding: 'utf8' })
}

function truncatedJson(text: string, bytes: number, sha256: string): string {
  return JSON.stringify({ truncated: true, bytes, sha256, text })
}

/** Cohere's first chat streams a JSON object a line; the last one repeats the answer whole. */
function lastOfLines(text: string): Readonly<Record<string, unknown>> | undefined {
  const last = objectOf(parseJson(text.trimEnd().split('\n').at(-1) ?? ''))
  return last?.['event_type'] === 'stream-end' ? objectOf(last['response']) : undefined
}
