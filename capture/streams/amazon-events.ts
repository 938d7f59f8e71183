import { fieldAt, parseJson, textOf } from '../json.ts'

/** Total length, length of the headers and a checksum before each event's headers, a checksum behind its payload. */
const preludeBytes = 12
const checksumBytes = 4

/**
 * The complete events of an `application/vnd.amazon.eventstream`, in which Bedrock streams what models say, as the `text/event-stream` that
 * the model's maker would send. Checksums are for who relies on the answer.
 */
export function textOfAmazonEvents(bytes: Buffer): string {
  const events: string[] = []
  let at = 0
  while (at + preludeBytes <= bytes.length) {
    const end = at + bytes.readUInt32BE(at)
    const payloadAt = at + preludeBytes + bytes.readUInt32BE(at + 4)
    if (end > bytes.length || payloadAt > end - checksumBytes) break
    events.push(`data: ${chunkOf(bytes.toString('utf8', payloadAt, end - checksumBytes))}\n\n`)
    at = end
  }
  return events.join('')
}

/** A chunk of the model's stands in base64; what has none says what went wrong. */
function chunkOf(payload: string): string {
  const value = parseJson(payload)
  const chunk = textOf(fieldAt(value, 'bytes'))
  if (chunk !== undefined) return Buffer.from(chunk, 'base64').toString('utf8')
  return JSON.stringify({ type: 'error', error: { message: textOf(fieldAt(value, 'message')) ?? payload } })
}
