import { fieldAt, objectOf, parseJson, textOf } from '../json.ts'

/** Total length, header length and a checksum before each event's headers; a checksum after its payload. */
const preludeBytes = 12
const checksumBytes = 4

export interface AmazonText {
  /** The equivalent `text/event-stream`; Converse's events as an object with the event's name. */
  text: string
  /** Offset after the first event whose data end in `line`. */
  endOf: (line: string) => number | undefined
}

/**
 * Reads the complete events of an `application/vnd.amazon.eventstream`, in which Bedrock streams. Checksums
 * are not verified.
 */
export function readAmazonEvents(bytes: Buffer): AmazonText {
  const events: { data: string; end: number }[] = []
  let at = 0
  while (at + preludeBytes <= bytes.length) {
    const end = at + bytes.readUInt32BE(at)
    const payloadAt = at + preludeBytes + bytes.readUInt32BE(at + 4)
    if (end > bytes.length || payloadAt > end - checksumBytes) break
    const headers = headersIn(bytes.subarray(at + preludeBytes, payloadAt))
    events.push({ data: chunkOf(headers, bytes.toString('utf8', payloadAt, end - checksumBytes)), end })
    at = end
  }
  return {
    text: events.map(({ data }) => `data: ${data}\n\n`).join(''),
    endOf: (line) => events.find(({ data }) => data.endsWith(line))?.end,
  }
}

const textType = 7
/** Lengths of values by type; other types have a two-byte length prefix. */
const valueBytes: ReadonlyMap<number, number> = new Map([
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 2],
  [4, 4],
  [5, 8],
  [8, 8],
  [9, 16],
])
const lengthBytes = 2

/** Text headers, up to the first invalid one. */
function headersIn(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>()
  let at = 0
  while (at < bytes.length) {
    const typeAt = at + 1 + (bytes[at] ?? 0)
    const type = bytes[typeAt]
    const fixed = valueBytes.get(type ?? -1)
    const valueAt = typeAt + 1 + (fixed === undefined ? lengthBytes : 0)
    if (type === undefined || valueAt > bytes.length) break
    const end = valueAt + (fixed ?? bytes.readUInt16BE(typeAt + 1))
    if (type === textType)
      headers.set(bytes.toString('utf8', at + 1, typeAt), bytes.toString('utf8', valueAt, end))
    at = end
  }
  return headers
}

/** The model's chunks are base64, Converse's events are named by a header; anything else is an error. */
function chunkOf(headers: ReadonlyMap<string, string>, payload: string): string {
  const value = parseJson(payload)
  const chunk = textOf(fieldAt(value, 'bytes'))
  if (chunk !== undefined) return Buffer.from(chunk, 'base64').toString('utf8')
  const event = headers.get(':event-type')
  if (event !== undefined && objectOf(value) !== undefined) return JSON.stringify({ [event]: value })
  const message = textOf(fieldAt(value, 'message')) ?? textOf(headers.get(':error-message')) ?? payload
  return JSON.stringify({ type: 'error', error: { message } })
}
