import { createArrivals, type Arrivals } from '#capture/streams/arrivals.ts'
import { streamTextFactor } from '#capture/streams/assemble-stream.ts'
import { isEventStream, isJsonLines } from '#capture/streams/stream-types.ts'
import type { CaptureBudget } from './capture-budget.ts'
import { CapturedBody, type CutReason } from './captured-body.ts'

/** Both bodies of a call that is recorded, as far as they are kept. */
export class CapturedCall {
  readonly request: CapturedBody
  readonly answer: CapturedBody

  /** When the answer came, as it stands in the record: of one that is compressed nobody can tell. */
  arrivals: Arrivals | null = null

  readonly #maxBodyBytes: number

  constructor(budget: CaptureBudget, maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes
    this.request = new CapturedBody(budget, maxBodyBytes)
    this.answer = new CapturedBody(budget, maxBodyBytes)
  }

  /** Before its first byte. Of a stream more is kept, for the message in it, which must fit; of what is compressed, for its end, which says the tokens. */
  answers({ contentType, contentEncoding }: { contentType: string; contentEncoding: string }): void {
    this.arrivals = contentEncoding === '' ? createArrivals() : null
    if (isEventStream(contentType) || isJsonLines(contentType) || contentEncoding !== '')
      this.answer.allow(this.#maxBodyBytes * streamTextFactor)
  }

  /** A chunk of the answer. */
  answered(chunk: Buffer, atMs: number): void {
    this.answer.add(chunk)
    this.arrivals?.add(chunk.length, atMs)
  }

  /** Why not all of them was kept. */
  cuts(): CutReason[] {
    return [this.request.cut, this.answer.cut].filter((cut) => cut !== null)
  }

  release(): void {
    this.request.release()
    this.answer.release()
  }
}
