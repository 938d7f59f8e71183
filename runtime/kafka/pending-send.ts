import type { SluiceError } from '../errors.ts'

/** One call of `send`: settles when its records are all written, one cannot be written, or time is up. */
export class PendingSend {
  readonly done: Promise<void>
  settled = false
  #left: number
  #resolve!: () => void
  #reject!: (error: SluiceError) => void
  readonly #timer: NodeJS.Timeout

  /** `late` makes the rejection after `timeoutMs`. */
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
