import { Base64Filter } from '#capture/media/base64-filter.ts'
import { readAmazonEvents } from '#capture/streams/amazon-events.ts'
import { endOfText } from '#capture/streams/arrivals.ts'
import {
  assembleStream,
  beginsAsList,
  recordedMessage,
  streamTextFactor,
} from '#capture/streams/assemble-stream.ts'
import { isAmazonEvents, isEventStream, isJsonLines } from '#capture/streams/stream-types.ts'
import { errorListed } from '#capture/answer-error.ts'
import type { JsonObject } from '#capture/json.ts'
import { fitsRecord } from '#capture/record/fits-record.ts'
import type { OnDefect } from '#capture/record/raw-answer.ts'
import { endBytes, withUsageAtEnd } from '#capture/usage-at-end.ts'
import { bodyJson, wrappedJson, type BodyJson } from './body-json.ts'
import type { CapturedBytes } from './captured-body.ts'
import { cutAs, decodeCaptured } from './decode-captured.ts'

export interface AnswerJson extends BodyJson {
  /** Whether a stream reached the end mark of its format; undefined for other answers. */
  streamEnded: boolean | undefined
  /** Decompressed bytes of a stream up to the end of the first event with generated content. */
  firstWordsEnd?: number | undefined
  /** What is known of an answer that has no `value`, because it was truncated or wrapped. */
  known?: JsonObject | undefined
}

const noBytes = Buffer.alloc(0)

interface Answer extends CapturedBytes {
  contentType: string
  contentEncoding: string
  /** Sound or pictures in it are described (capture/media/); done already unless it is compressed. */
  isMedia?: boolean
}

/** Some servers omit the streaming content type, and clients read the stream all the same. */
function beginsAsEvents(beginning: string): boolean {
  return /^\ufeff?(?:data|event|id|retry)?:/.test(beginning)
}

/** An answer as it is recorded: decompressed, and a stream as its assembled message. */
export function answerJson(
  answer: Answer,
  maxBytes: number,
  onDefect: OnDefect,
): AnswerJson | Promise<AnswerJson> {
  const { contentType, contentEncoding } = answer
  if (contentEncoding === '') return decodedJson(answer, contentType, maxBytes, onDefect)
  const maxStreamed = maxBytes * streamTextFactor
  const { isMedia = false } = answer
  const mayBeLonger = isMedia || isEventStream(contentType) || isJsonLines(contentType)
  const maxDecoded = mayBeLonger ? maxStreamed : maxBytes
  // 2,048 vectors of 3,072 numbers in base64 are 34 MB, a little more than eight times a body.
  return decodeCaptured(answer, contentEncoding, maxDecoded, 2 * maxStreamed).then((decoded) =>
    decodedJson(isMedia ? withoutMedia(decoded) : decoded, contentType, maxBytes, onDefect),
  )
}

function withoutMedia(decoded: CapturedBytes): CapturedBytes {
  const filter = new Base64Filter()
  return { ...decoded, bytes: Buffer.concat([filter.push(decoded.bytes), filter.end()]) }
}

function decodedJson(
  captured: CapturedBytes,
  contentType: string,
  maxBytes: number,
  onDefect: OnDefect,
): AnswerJson {
  const decoded = isAmazonEvents(contentType) ? eventsOfAmazon(captured) : captured
  const beginning = decoded.bytes.toString('utf8', 0, 9)
  const isStream = isEventStream(contentType) || isJsonLines(contentType) || beginsAsEvents(beginning)
  const report = reportOnce(onDefect)
  const stream = isStream || beginsAsList(beginning) ? streamJson(decoded, maxBytes, report) : undefined
  if (stream !== undefined) return stream
  // Without a stream's content type, the whole text is examined for chunks.
  const body = bodyJson(decoded, maxBytes, { isStream: isEventStream(contentType), onDefect: report })
  if (body.value !== undefined) return { ...body, streamEnded: undefined }
  // JSON lines are not valid JSON as a whole, whatever the content type says.
  const ofLines = !isStream && /^\s*\{/.test(beginning) ? streamJson(decoded, maxBytes, report) : undefined
  if (ofLines !== undefined) return ofLines
  const error = beginsAsList(beginning) ? errorListed(decoded.bytes.toString('utf8')) : undefined
  return { ...body, streamEnded: undefined, known: withUsageAtEnd(error ?? {}, endOf(decoded)) }
}

/** An answer as text, with a mapping from a line to its end in the original bytes. */
interface DecodedAnswer extends CapturedBytes {
  endOf?: (line: string) => number | undefined
}

/** Bytes without any such event stay unchanged. */
function eventsOfAmazon(captured: CapturedBytes): DecodedAnswer {
  const { text, endOf } = readAmazonEvents(captured.bytes)
  return text === '' ? captured : { ...captured, bytes: Buffer.from(text), endOf }
}

/** Parsing is tried twice; a failure is reported once. */
function reportOnce(onDefect: OnDefect): OnDefect {
  let isReported = false
  return (error) => {
    if (!isReported) onDefect(error)
    isReported = true
  }
}

/** Undefined for an unknown format, for nesting deeper than the stack, or after `onDefect` was called. */
function streamJson(decoded: DecodedAnswer, maxBytes: number, onDefect: OnDefect): AnswerJson | undefined {
  try {
    let firstWordsEnd: number | undefined
    const assembled = assembleStream(decoded.bytes.toString('utf8'), (line) => {
      firstWordsEnd = decoded.endOf === undefined ? endOfText(line, decoded.bytes) : decoded.endOf(line)
    })
    if (assembled === undefined) return undefined
    const { ended: streamEnded } = assembled
    const body = recordedMessage(assembled)
    const text = JSON.stringify(body)
    const json = Buffer.from(text)
    const isWhole = decoded.sha256 === null && json.length <= maxBytes
    if (isWhole && fitsRecord(text, json)) return { json, value: body, streamEnded, firstWordsEnd }
    // A truncated stream is recorded as what its kept part contains, marked as truncated.
    const wrapped = isWhole
      ? wrappedJson({ bytes: json, byteLength: json.length, sha256: null }, maxBytes)
      : bodyJson(cutAs(json, decoded), maxBytes)
    const known = decoded.sha256 === null ? body : withUsageAtEnd(body, endOf(decoded))
    return { ...wrapped, streamEnded, firstWordsEnd, known }
  } catch (error) {
    // Keep the raw answer as evidence when our parser fails.
    if (!(error instanceof RangeError)) onDefect(error)
    return undefined
  }
}

/** Empty for an answer that was truncated while compressed. */
function endOf({ bytes, sha256, end = noBytes }: CapturedBytes): Buffer {
  return sha256 === null ? bytes.subarray(-endBytes) : end
}
