import type { SluiceError } from '../errors.ts'

/** One call of `send`: settles when all of its records are written, one of them cannot be, or time is up. */
export class PendingSend {
  readonly done: Promise<void>
  settled = false
  #left: number
  #resolve!: () => void
  #reject!: (error: SluiceError) => void
  readonly #timer: NodeJS.Timeout

  /** `late` says what to reject with after `timeoutMs`. */
  constructor(records: number, timeoutMs: number, late: () => SluiceError) {
    this.#left = records
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#timer = setTimeout(() => this.fail(late()), timeoutMs)
  }

  oneWritten(): void {
    this.#left--
    if (this.#left === 0 && this.#settle()) this.#resolve()
  }

  fail(error: SluiceError): void {
    if (this.#settle()) this.#reject(error)
  }

  #settle(): boolean {
    if (this.settled) return false
    this.settled = true
    clearTimeout(this.#timer)
    return true
  }
}
