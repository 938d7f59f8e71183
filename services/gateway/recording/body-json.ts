import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { objectOf, parseJson } from '#capture/json.ts'
import { fitsRecord } from '#capture/record/fits-record.ts'
import { rawAnswerJson, type OnDefect } from '#capture/record/raw-answer.ts'
import { isToolCallRecord } from '#capture/tool-calls.ts'
import type { CapturedBytes } from './captured-body.ts'
import { cutAs, decodeCaptured } from './decode-captured.ts'
import { objectText } from './object-text.ts'

/** A body as it is recorded: the bytes of a JSON object. */
export interface BodyJson {
  json: Buffer
  /** The object, if the body is one; undefined if it had to be wrapped. */
  value: Readonly<Record<string, unknown>> | undefined
}

/** Set for answers only. `isStream`: an event stream. */
interface AnswerKind {
  isStream: boolean
  onDefect: OnDefect
}

/** Bytes of the fields around truncated text. */
const wrapperBytes = 256

/**
 * A JSON object stays as it is, converted to UTF-8: never re-serialised, so digits, spaces and duplicate
 * names stay. Anything else becomes `{"raw", "encoding"}`, for chunked answers with `joined`. A body that was
 * truncated, or is too long for a record, becomes `{"truncated", "bytes", "sha256", "text"}`. It may be too
 * long because its headers wrongly say that it is compressed or a stream.
 */
export function bodyJson(captured: CapturedBytes, maxBytes: number, answer?: AnswerKind): BodyJson {
  const isLong = captured.bytes.length > maxBytes
  const kept = isLong ? cutAs(captured.bytes.subarray(0, maxBytes), captured) : captured
  const read = inUtf8(kept, maxBytes)
  if (read.sha256 !== null) return { json: truncatedJson(read, read.sha256, maxBytes), value: undefined }
  const value = jsonObjectOf(read.bytes)
  return value === undefined ? wrappedJson(read, maxBytes, answer) : { json: read.bytes, value }
}

/** Converts objects in other encodings, so that their text gets scored too. */
function inUtf8(captured: CapturedBytes, maxBytes: number): CapturedBytes {
  if (isPlain(captured.bytes)) return captured
  const text = objectText(captured.bytes)
  if (text === undefined) return captured
  const bytes = Buffer.from(text)
  return bytes.length <= maxBytes ? { ...captured, bytes } : cutAs(bytes, captured)
}

/** The common case: an object in UTF-8, with no zero byte after its first brace. */
function isPlain(bytes: Buffer): boolean {
  return bytes[0] === 0x7b && bytes[1] !== 0 && isUtf8(bytes)
}

/** Parses the bytes; undefined if they are not a JSON object. */
function jsonObjectOf(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  if (!isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  return fitsRecord(text, bytes) ? objectOf(parseJson(text)) : undefined
}

/** Wraps a body that is no recordable object: as text, or in base64 if it is not UTF-8. */
export function wrappedJson(captured: CapturedBytes, maxBytes: number, answer?: AnswerKind): BodyJson {
  return { json: rawJson(captured, maxBytes, answer), value: undefined }
}

function rawJson(captured: CapturedBytes, maxBytes: number, answer?: AnswerKind): Buffer {
  const { bytes } = captured
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64'
  const raw = bytes.toString(encoding)
  const json = Buffer.from(
    encoding === 'base64' || answer === undefined
      ? JSON.stringify({ raw, encoding })
      : rawAnswerJson(raw, maxBytes, answer.onDefect, answer.isStream),
  )
  if (json.length <= maxBytes) return json
  // Escapes make the text longer, so a body that fit may not fit now.
  return truncatedJson(captured, createHash('sha256').update(bytes).digest('hex'), maxBytes)
}

function truncatedJson({ bytes, byteLength }: CapturedBytes, sha256: string, maxBytes: number): Buffer {
  const head = { truncated: true, bytes: byteLength, sha256 }
  let text = bytes.toString('utf8')
  for (;;) {
    const json = Buffer.from(JSON.stringify({ ...head, text }))
    if (json.length <= maxBytes) return json
    const share = (maxBytes - wrapperBytes) / json.length
    // Do not split a surrogate pair.
    text = text.slice(0, Math.max(0, Math.floor(text.length * share * 0.98))).replace(/[\ud800-\udbff]$/, '')
  }
}

/** A request as it is recorded: decompressed. */
export function requestJson(
  request: CapturedBytes,
  contentEncoding: string,
  maxBytes: number,
): BodyJson | Promise<BodyJson> {
  if (contentEncoding === '') return decodedJson(request, maxBytes)
  return decodeCaptured(request, contentEncoding, maxBytes).then((decoded) => decodedJson(decoded, maxBytes))
}

function decodedJson(request: CapturedBytes, maxBytes: number): BodyJson {
  const body = bodyJson(request, maxBytes)
  return isToolCallRecord(body.value) ? wrappedJson({ ...request, bytes: body.json }, maxBytes) : body
}
