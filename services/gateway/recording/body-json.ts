import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { objectOf, parseJson } from '#capture/json.ts'
import { fitsRecord } from '#capture/record/fits-record.ts'
import type { CapturedBytes } from './captured-body.ts'

/** A body as it stands in a record: the bytes of a JSON object. */
export interface BodyJson {
  json: Buffer
  /** The object, when the body itself is one; undefined when it had to be wrapped. */
  value: Readonly<Record<string, unknown>> | undefined
}

/** Room for the fields around a text that was cut. */
const wrapperBytes = 256

/**
 * The bytes themselves when they are a JSON object (never re-serialised: digits, spaces and duplicate names stay); otherwise
 * `{"raw", "encoding"}`, and `{"truncated", "bytes", "sha256", "text"}` for a body that was cut.
 */
export function bodyJson(captured: CapturedBytes, maxBytes: number): BodyJson {
  if (captured.sha256 !== null)
    return { json: truncatedJson(captured, captured.sha256, maxBytes), value: undefined }
  const value = jsonObjectOf(captured.bytes)
  return value === undefined ? wrappedJson(captured, maxBytes) : { json: captured.bytes, value }
}

/** The object that the bytes are the JSON of, or undefined. */
function jsonObjectOf(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  if (!isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  return fitsRecord(text, bytes) ? objectOf(parseJson(text)) : undefined
}

/** A body that cannot stand in a record as it is: as text, or in base64 where it is none. */
export function wrappedJson(captured: CapturedBytes, maxBytes: number): BodyJson {
  return { json: rawJson(captured, maxBytes), value: undefined }
}

function rawJson(captured: CapturedBytes, maxBytes: number): Buffer {
  const { bytes } = captured
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64'
  const json = Buffer.from(JSON.stringify({ raw: bytes.toString(encoding), encoding }))
  if (json.length <= maxBytes) return json
  // Escapes make text longer: what fitted when it came does not fit now.
  return truncatedJson(captured, createHash('sha256').update(bytes).digest('hex'), maxBytes)
}

function truncatedJson({ bytes, byteLength }: CapturedBytes, sha256: string, maxBytes: number): Buffer {
  const head = { truncated: true, bytes: byteLength, sha256 }
  let text = bytes.toString('utf8')
  for (;;) {
    const json = Buffer.from(JSON.stringify({ ...head, text }))
    if (json.length <= maxBytes) return json
    const share = (maxBytes - wrapperBytes) / json.length
    // A cut through a surrogate pair would leave half a character.
    text = text.slice(0, Math.max(0, Math.floor(text.length * share * 0.98))).replace(/[\ud800-\udbff]$/, '')
  }
}
