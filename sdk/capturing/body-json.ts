import { createHash } from 'node:crypto'
import { assembleStream } from '../../capture/streams/assemble-stream.ts'
import { objectOf, parseJson } from '../../capture/json.ts'
import type { KeptBytes } from './kept-body.ts'

/**
 * A body as it stands in a record: the text itself when it is a JSON object, the message that a stream amounts to,
 * `{"raw", "encoding"}` otherwise; `{"truncated", "bytes", "sha256", "text"}` when it was not kept whole.
 */
export function bodyJson(kept: KeptBytes, maxBytes: number, contentType: string): string {
  const { text, byteLength, sha256 } = kept
  const isJson = contentType.startsWith('application/json')
  const assembled = isJson ? undefined : (assembleStream(text)?.body ?? lastOfLines(text))
  const json = assembled === undefined ? text : JSON.stringify(assembled)
  // A stream that was cut gives what the kept part amounts to, and says so.
  if (sha256 !== undefined) return truncatedJson(json, { byteLength, sha256 }, maxBytes)
  const isObject = assembled !== undefined || objectOf(parseJson(text)) !== undefined
  return boundedJson(isObject || byteLength > maxBytes ? json : rawJson(text), maxBytes)
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
function lastOfLines(text: string): Readonly<Record<string, unknown>> | undefined {
  const last = objectOf(parseJson(text.trimEnd().split('\n').at(-1) ?? ''))
  return last?.['event_type'] === 'stream-end' ? objectOf(last['response']) : undefined
}
