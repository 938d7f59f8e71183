import { streamTextFactor } from '#capture/streams/assemble-stream.ts'
import { isEventStream } from './answer-json.ts'
import type { CaptureBudget } from './capture-budget.ts'
import { CapturedBody, type CutReason } from './captured-body.ts'

/** Both bodies of a call that is recorded, as far as they are kept. */
export class CapturedCall {
  readonly request: CapturedBody
  readonly answer: CapturedBody

  readonly #maxBodyBytes: number

  constructor(budget: CaptureBudget, maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes
    this.request = new CapturedBody(budget, maxBodyBytes)
    this.answer = new CapturedBody(budget, maxBodyBytes)
  }

  /** Before its first byte. Of a stream more is kept, for the message in it, which must fit; of what is compressed, for its end, which says the tokens. */
  answers({ contentType, contentEncoding }: { contentType: string; contentEncoding: string }): void {
    if (isEventStream(contentType) || contentEncoding !== '')
      this.answer.allow(this.#maxBodyBytes * streamTextFactor)
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
