import { createHash } from 'node:crypto'
import { errorListed } from '../../../capture/answer-error.ts'
import { objectOf, parseJson, type JsonObject } from '../../../capture/json.ts'
import { fitsRecord } from '../../../capture/record/fits-record.ts'
import { rawAnswerJson, type OnDefect } from '../../../capture/record/raw-answer.ts'
import { readAmazonEvents } from '../../../capture/streams/amazon-events.ts'
import { endOfText } from '../../../capture/streams/arrivals.ts'
import {
  assembleStream,
  beginsAsList,
  recordedMessage,
  type AssembledStream,
} from '../../../capture/streams/assemble-stream.ts'
import { holdsWords } from '../../../capture/streams/holds-words.ts'
import { isAmazonEvents, isEventStream } from '../../../capture/streams/stream-types.ts'
import { isToolCallRecord } from '../../../capture/tool-calls.ts'
import { withUsageAtEnd } from '../../../capture/usage-at-end.ts'
import { beginningOf } from './beginning-of.ts'
import type { KeptBytes } from './kept-body.ts'

export interface BodyJson {
  json: string
  /**
   * The parsed body; undefined if it is no JSON object. For a truncated body: the kept part of a stream, and
   * the token counts at its end.
   */
  value: JsonObject | undefined
  /** Whether `json` lacks what `value` contains. */
  isCut: boolean
  /** Whether it is a stream that reached the end mark of its format. */
  streamEnded: boolean
  /** Bytes of a stream up to the end of the first event with generated content. */
  firstWordsEnd?: number | undefined
}

/** Set for answers only. */
export interface AnswerKind {
  contentType: string
  onDefect: OnDefect
}

/**
 * A body as it is recorded: a JSON object unchanged, a stream as its assembled message, anything else as
 * `{"raw", "encoding"}`, for chunked answers with `joined`. A truncated body becomes `{"truncated", "bytes",
 * "sha256", "text"}`. Without `answer` it is a request.
 */
export function bodyJson(kept: KeptBytes, maxBytes: number, answer?: AnswerKind): BodyJson {
  const contentType = answer?.contentType
  const { bytes, byteLength, sha256, end } = kept
  const amazon =
    contentType !== undefined && isAmazonEvents(contentType) ? readAmazonEvents(bytes) : undefined
  const text = amazon?.text ?? bytes.toString('utf8')
  const mayStream = contentType?.startsWith('application/json') === false || beginsAsList(text)
  const assembled = mayStream && answer !== undefined ? messageIn(text, answer.onDefect) : undefined
  const { json = text, ended: streamEnded = false, firstWords } = assembled ?? {}
  const endOf = amazon?.endOf ?? ((line: string) => endOfText(line, bytes))
  const stream = { streamEnded, firstWordsEnd: firstWords === undefined ? undefined : endOf(firstWords) }
  // A truncated stream is recorded as what its kept part contains, marked as truncated.
  if (sha256 !== undefined) {
    const cut = truncatedJson(json, { byteLength, sha256 }, maxBytes)
    return { json: cut, value: withUsageAtEnd(assembled?.body ?? {}, end), isCut: true, ...stream }
  }
  const value = assembled?.body ?? objectOf(parseJson(text)) ?? errorListed(text)
  const isObject = value !== undefined && (assembled !== undefined || !beginsAsList(text))
  const isWhole = isObject && !isToolCallRecord(value) && fitsRecord(json)
  const whole = isWhole ? json : rawJson(json, maxBytes, answer)
  const fits = Buffer.byteLength(whole) <= maxBytes
  return { json: fits ? whole : cutJson(json, maxBytes), value, isCut: !fits || whole !== json, ...stream }
}

/** `firstWords`: the line with the first generated content. */
type Message = AssembledStream & { json: string; firstWords: string | undefined }

/**
 * The message of a stream. Undefined for an unknown format, for nesting deeper than the stack, or after
 * `onDefect`.
 */
function messageIn(text: string, onDefect: OnDefect): Message | undefined {
  try {
    let firstWords: string | undefined
    const assembled = assembleStream(text, (line) => (firstWords = line))
    if (assembled !== undefined)
      return { ...assembled, json: JSON.stringify(recordedMessage(assembled)), firstWords }
    const last = lastOfLines(text)
    return last && { ...last, json: JSON.stringify(last.body), firstWords: firstLineWithWords(text) }
  } catch (error) {
    // Keep the raw answer as evidence when our parser fails.
    if (!(error instanceof RangeError)) onDefect(error)
    return undefined
  }
}

/** JSON text, truncated beyond `maxBytes`. */
export function boundedJson(json: string, maxBytes: number): string {
  return Buffer.byteLength(json) <= maxBytes ? json : cutJson(json, maxBytes)
}

function cutJson(json: string, maxBytes: number): string {
  const byteLength = Buffer.byteLength(json)
  const sha256 = createHash('sha256').update(json).digest('hex')
  return truncatedJson(json, { byteLength, sha256 }, maxBytes)
}

/** Requests are recorded as sent, without `joined`. */
function rawJson(raw: string, maxBytes: number, answer: AnswerKind | undefined): string {
  if (answer === undefined) return JSON.stringify({ raw, encoding: 'utf8' })
  return rawAnswerJson(raw, maxBytes, answer.onDefect, isEventStream(answer.contentType))
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
    // Escapes make text longer.
    text = beginningOf(text, Math.floor(text.length * (maxBytes / size) * 0.98))
  }
}

function firstLineWithWords(text: string): string | undefined {
  return text.split('\n').find((line) => holdsWords(objectOf(parseJson(line)) ?? {}))
}

/** Cohere v1 chat streams one JSON object per line; the last repeats the whole answer. */
function lastOfLines(text: string): AssembledStream | undefined {
  const last = objectOf(parseJson(text.trimEnd().split('\n').at(-1) ?? ''))
  const body = last?.['event_type'] === 'stream-end' ? objectOf(last['response']) : undefined
  return body && { body, ended: true }
}
