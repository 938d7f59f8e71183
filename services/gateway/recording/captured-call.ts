import { createArrivals, type Arrivals } from '#capture/streams/arrivals.ts'
import { streamTextFactor } from '#capture/streams/assemble-stream.ts'
import { isEventStream, isJsonLines } from '#capture/streams/stream-types.ts'
import type { CaptureBudget } from './capture-budget.ts'
import { CapturedBody, type CutReason } from './captured-body.ts'

/** The captured bodies of a recorded call. */
export class CapturedCall {
  readonly request: CapturedBody
  readonly answer: CapturedBody

  /** Arrival times by position in the recorded answer; null for a compressed one. */
  arrivals: Arrivals | null = null

  readonly #maxBodyBytes: number

  constructor(budget: CaptureBudget, maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes
    this.request = new CapturedBody(budget, maxBodyBytes)
    this.answer = new CapturedBody(budget, maxBodyBytes)
  }

  /**
   * Called before the first byte. A stream may be longer, as only its assembled message must fit; so may a
   * compressed answer, whose end holds the token counts.
   */
  answers({ contentType, contentEncoding }: { contentType: string; contentEncoding: string }): void {
    this.arrivals = contentEncoding === '' ? createArrivals() : null
    if (isEventStream(contentType) || isJsonLines(contentType) || contentEncoding !== '')
      this.answer.allow(this.#maxBodyBytes * streamTextFactor)
  }

  answered(chunk: Buffer, atMs: number): void {
    this.answer.add(chunk)
    this.arrivals?.add(chunk.length, atMs)
  }

  /** Why bodies are truncated. */
  cuts(): CutReason[] {
    return [this.request.cut, this.answer.cut].filter((cut) => cut !== null)
  }

  release(): void {
    this.request.release()
    this.answer.release()
  }
}
