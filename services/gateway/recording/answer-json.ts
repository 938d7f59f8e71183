import { assembleStream, streamTextFactor } from '#capture/streams/assemble-stream.ts'
import { bodyJson, type BodyJson } from './body-json.ts'
import type { CapturedBytes } from './captured-body.ts'
import { cutAs, decodeCaptured } from './decode-captured.ts'

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
  return decodeCaptured(answer, contentEncoding, maxDecoded).then((decoded) =>
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
