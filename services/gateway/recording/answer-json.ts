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
  /** Whether a stream reached the end that its format has; undefined for what is no stream. */
  streamEnded: boolean | undefined
  /** Bytes of a stream, decompressed, up to the end of the first event that has something generated. */
  firstWordsEnd?: number | undefined
  /** What is known of the answer where no `value` is: it was cut, or had to be wrapped. */
  known?: JsonObject | undefined
}

const noBytes = Buffer.alloc(0)

interface Answer extends CapturedBytes {
  contentType: string
  contentEncoding: string
}

/** Some servers do not say that they stream, and clients read it all the same. */
function beginsAsEvents(beginning: string): boolean {
  return /^\ufeff?(?:data|event|id|retry)?:/.test(beginning)
}

/** An answer as it stands in a record: decompressed, and a stream as the message that it amounts to. */
export function answerJson(
  answer: Answer,
  maxBytes: number,
  onDefect: OnDefect,
): AnswerJson | Promise<AnswerJson> {
  const { contentType, contentEncoding } = answer
  if (contentEncoding === '') return decodedJson(answer, contentType, maxBytes, onDefect)
  const maxStreamed = maxBytes * streamTextFactor
  const maxDecoded = isEventStream(contentType) || isJsonLines(contentType) ? maxStreamed : maxBytes
  // 2,048 vectors of 3,072 numbers in base64 are 34 MB, a little more than eight times a body.
  return decodeCaptured(answer, contentEncoding, maxDecoded, 2 * maxStreamed).then((decoded) =>
    decodedJson(decoded, contentType, maxBytes, onDefect),
  )
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
  // Whether a text that is not said to be a stream came in pieces is asked of all of it.
  const body = bodyJson(decoded, maxBytes, { isStream: isEventStream(contentType), onDefect: report })
  if (body.value !== undefined) return { ...body, streamEnded: undefined }
  // Whatever its type is said to be, an object a line is none as a whole.
  const ofLines = !isStream && /^\s*\{/.test(beginning) ? streamJson(decoded, maxBytes, report) : undefined
  if (ofLines !== undefined) return ofLines
  const error = beginsAsList(beginning) ? errorListed(decoded.bytes.toString('utf8')) : undefined
  return { ...body, streamEnded: undefined, known: withUsageAtEnd(error ?? {}, endOf(decoded)) }
}

/** An answer that came as text, and where in what passed a line of it ended. */
interface DecodedAnswer extends CapturedBytes {
  endOf?: (line: string) => number | undefined
}

/** What is said to be such events and has none stays as it is. */
function eventsOfAmazon(captured: CapturedBytes): DecodedAnswer {
  const { text, endOf } = readAmazonEvents(captured.bytes)
  return text === '' ? captured : { ...captured, bytes: Buffer.from(text), endOf }
}

/** An answer that is recorded as it came is counted once, though its words are looked for twice. */
function reportOnce(onDefect: OnDefect): OnDefect {
  let isReported = false
  return (error) => {
    if (!isReported) onDefect(error)
    isReported = true
  }
}

/** Undefined: it is in no format that is known, nested deeper than the stack, or `onDefect` was told. */
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
    // A stream that was cut gives what the kept part amounts to, and says so.
    const wrapped = isWhole
      ? wrappedJson({ bytes: json, byteLength: json.length, sha256: null }, maxBytes)
      : bodyJson(cutAs(json, decoded), maxBytes)
    const known = decoded.sha256 === null ? body : withUsageAtEnd(body, endOf(decoded))
    return { ...wrapped, streamEnded, firstWordsEnd, known }
  } catch (error) {
    // What came is evidence, whatever a mistake of ours makes of it.
    if (!(error instanceof RangeError)) onDefect(error)
    return undefined
  }
}

/** Nothing of one that was cut while it was compressed. */
function endOf({ bytes, sha256, end = noBytes }: CapturedBytes): Buffer {
  return sha256 === null ? bytes.subarray(-endBytes) : end
}
