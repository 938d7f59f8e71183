import { createHash } from 'node:crypto'
import { decodeContent } from '#capture/decode-content.ts'
import { assembleStream, streamTextFactor } from '#capture/streams/assemble-stream.ts'
import { bodyJson, type BodyJson } from './body-json.ts'
import type { CapturedBytes } from './captured-body.ts'

export interface AnswerJson extends BodyJson {
  /** Whether a stream reached the end that its format has; undefined for what is no stream. */
  streamEnded: boolean | undefined
}

interface Answer extends CapturedBytes {
  contentType: string
  contentEncoding: string
}

export function isEventStream(contentType: string): boolean {
  return contentType.startsWith('text/event-stream')
}

/** An answer as it stands in a record: decompressed, and a stream as the message that it amounts to. */
export function answerJson(answer: Answer, maxBytes: number): AnswerJson | Promise<AnswerJson> {
  const { contentType, contentEncoding } = answer
  if (contentEncoding === '') return decodedJson(answer, contentType, maxBytes)
  const maxDecoded = isEventStream(contentType) ? maxBytes * streamTextFactor : maxBytes
  return decode(answer, contentEncoding, maxDecoded).then((decoded) =>
    decodedJson(decoded, contentType, maxBytes),
  )
}

function decodedJson(decoded: CapturedBytes, contentType: string, maxBytes: number): AnswerJson {
  if (!isEventStream(contentType)) return { ...bodyJson(decoded, maxBytes), streamEnded: undefined }
  const assembled = assembleStream(decoded.bytes.toString('utf8'))
  if (assembled === undefined) return { ...bodyJson(decoded, maxBytes), streamEnded: undefined }
  const json = Buffer.from(JSON.stringify(assembled.body))
  // A stream that was cut gives what the kept part amounts to, and says so.
  return decoded.sha256 === null && json.length <= maxBytes
    ? { json, value: assembled.body, streamEnded: assembled.ended }
    : { ...bodyJson(cutAs(json, decoded), maxBytes), streamEnded: assembled.ended }
}

async function decode(
  captured: CapturedBytes,
  contentEncoding: string,
  maxBytes: number,
): Promise<CapturedBytes> {
  const decoded = await decodeContent(contentEncoding, captured.bytes, maxBytes)
  if (decoded === undefined) return captured
  if (captured.sha256 === null && !decoded.cut) return { ...captured, bytes: decoded.bytes }
  return cutAs(decoded.bytes, captured)
}

/** `bytes` stand for a body that was not kept whole; length and hash are of what passed. */
function cutAs(bytes: Buffer, { bytes: kept, byteLength, sha256 }: CapturedBytes): CapturedBytes {
  return { bytes, byteLength, sha256: sha256 ?? createHash('sha256').update(kept).digest('hex') }
}
