import { createArrivals } from '../../../capture/streams/arrivals.ts'
import { streamTextFactor } from '../../../capture/streams/assemble-stream.ts'
import { isEventStream, isJsonLines } from '../../../capture/streams/stream-types.ts'
import { unreadReporter, type Warn } from '../warn.ts'
import { bodyJson, type BodyJson } from './body-json.ts'
import type { ByteBudget } from './byte-budget.ts'
import { createKeptBody } from './kept-body.ts'
import { createLinesEnd } from './lines-end.ts'

/** An answer's bytes, kept while they pass to the program. */
export interface PassingAnswer {
  /** Returns whether the bytes complete the last line of JSON lines. */
  add(bytes: Uint8Array, atMs: number): boolean
  /** Returns the answer, or undefined if it is empty, and gives its memory back. */
  take(): BodyJson | undefined
  /** When the first generated content had arrived. */
  firstTokenMs(taken: BodyJson | undefined): number | undefined
}

export interface PassingAnswerOptions {
  maxBodyBytes: number
  budget: ByteBudget
  warn: Warn
}

export function createPassingAnswer(
  { headers }: Response,
  { maxBodyBytes, budget, warn }: PassingAnswerOptions,
): PassingAnswer {
  const contentType = headers.get('content-type') ?? ''
  const isLines = isJsonLines(contentType)
  // A stream may be longer, as only its message must fit.
  const isStream = isLines || isEventStream(contentType)
  const kept = createKeptBody(isStream ? maxBodyBytes * streamTextFactor : maxBodyBytes, budget)
  const isLastLine = isLines ? createLinesEnd() : () => false
  const arrivals = createArrivals()
  return {
    add(bytes, atMs) {
      arrivals.add(bytes.byteLength, atMs)
      kept.add(bytes)
      return isLastLine(bytes)
    },
    take() {
      try {
        if (kept.byteLength() === 0) return undefined
        return bodyJson(kept.read(), maxBodyBytes, { contentType, onDefect: unreadReporter(warn) })
      } finally {
        kept.release()
      }
    },
    firstTokenMs: (taken) =>
      taken?.firstWordsEnd === undefined ? undefined : arrivals.timeOf(taken.firstWordsEnd),
  }
}
