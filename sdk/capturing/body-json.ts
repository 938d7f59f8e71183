import { createHash } from 'node:crypto'
import { assembleStream, type AssembledStream } from '../../capture/streams/assemble-stream.ts'
import { objectOf, parseJson } from '../../capture/json.ts'
import type { KeptBytes } from './kept-body.ts'

export interface BodyJson {
  json: string
  /** Whether it is a stream that reached the end that its format has. */
  streamEnded: boolean
}

/**
 * A body as it stands in a record: the text itself when it is a JSON object, the message that a stream amounts to,
 * `{"raw", "encoding"}` otherwise; `{"truncated", "bytes", "sha256", "text"}` when it was not kept whole.
 */
export function bodyJson(kept: KeptBytes, maxBytes: number, contentType: string): BodyJson {
  const { text, byteLength, sha256 } = kept
  const isJson = contentType.startsWith('application/json')
  const assembled = isJson ? undefined : (assembleStream(text) ?? lastOfLines(text))
  const json = assembled === undefined ? text : JSON.stringify(assembled.body)
  const streamEnded = assembled?.ended === true
  // A stream that was cut gives what the kept part amounts to, and says so.
  if (sha256 !== undefined)
    return { json: truncatedJson(json, { byteLength, sha256 }, maxBytes), streamEnded }
  const isObject = assembled !== undefined || objectOf(parseJson(text)) !== undefined
  const whole = isObject || byteLength > maxBytes ? json : rawJson(text)
  return { json: boundedJson(whole, maxBytes), streamEnded }
}

/** JSON text as it is; over `maxBytes` it is cut. */
export function boundedJson(json: string, maxBytes: number): string {
  const byteLength = Buffer.byteLength(json)
  if (byteLength <= maxBytes) return json
  const sha256 = createHash('sha256').update(json).digest('hex')
  return truncatedJson(json, { byteLength, sha256 }, maxBytes)
}

function rawJson(raw: string): string {
  return JSON.stringify({ raw, encoding: 'utf8' })
}

function truncatedJson(
  whole: string,
  { byteLength: bytes, sha256 }: { byteLength: number; sha256: string },
  maxBytes: number,
): string {
  let text = whole.slice(0, maxBytes)
  for (;;) {
    const json = JSON.stringify({ truncated: true, bytes, sha256, text })
    const size = Buffer.byteLength(json)
    if (size <= maxBytes || text === '') return json
    // Escapes make text longer. A cut through a surrogate pair would leave half a character.
    text = text.slice(0, Math.floor(text.length * (maxBytes / size) * 0.98)).replace(/[\ud800-\udbff]$/, '')
  }
}

/** Cohere's first chat streams a JSON object a line; the last one repeats the answer whole. */
function lastOfLines(text: string): AssembledStream | undefined {
  const last = objectOf(parseJson(text.trimEnd().split('\n').at(-1) ?? ''))
  const body = last?.['event_type'] === 'stream-end' ? objectOf(last['response']) : undefined
  return body && { body, ended: true }
}
