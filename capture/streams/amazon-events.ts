import { fieldAt, objectOf, parseJson, textOf } from '../json.ts'

/** Total length, length of the headers and a checksum before each event's headers, a checksum behind its payload. */
const preludeBytes = 12
const checksumBytes = 4

export interface AmazonText {
  /**
   * What the model's maker would send as a `text/event-stream`; Converse's events each as a member by their
   * name.
   */
  text: string
  /** Bytes up to the end of the first event whose data end in `line`. */
  endOf: (line: string) => number | undefined
}

/**
 * Reads the complete events of an `application/vnd.amazon.eventstream`, in which Bedrock streams what models
 * say. Checksums are for who relies on the answer.
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
/** How long the values of the other types are; two bytes before those of no fixed length say it. */
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

/** The headers that are texts, up to one that cannot be read. */
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

/**
 * A chunk of the model's stands in base64, Converse's events are named by a header; what is neither says what
 * went wrong.
 */
function chunkOf(headers: ReadonlyMap<string, string>, payload: string): string {
  const value = parseJson(payload)
  const chunk = textOf(fieldAt(value, 'bytes'))
  if (chunk !== undefined) return Buffer.from(chunk, 'base64').toString('utf8')
  const event = headers.get(':event-type')
  if (event !== undefined && objectOf(value) !== undefined) return JSON.stringify({ [event]: value })
  const message = textOf(fieldAt(value, 'message')) ?? textOf(headers.get(':error-message')) ?? payload
  return JSON.stringify({ type: 'error', error: { message } })
}
