import { CapturedBody, type CaptureBudget, type CutReason } from './captured-body.ts'

/** Both bodies of a call that is recorded, as far as they are kept. */
export class CapturedCall {
  readonly request: CapturedBody
  readonly answer: CapturedBody

  constructor(budget: CaptureBudget, maxBodyBytes: number) {
    this.request = new CapturedBody(budget, maxBodyBytes)
    this.answer = new CapturedBody(budget, maxBodyBytes)
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
