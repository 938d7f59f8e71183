/** Counts work that goes on without a record, so that a stopping process can wait for it. */
export class UnderWay {
  #count = 0
  #onDrained: (() => void) | undefined

  async track<T>(work: Promise<T>): Promise<T> {
    this.#count++
    try {
      return await work
    } finally {
      if (--this.#count === 0) this.#onDrained?.()
    }
  }

  /** Resolves once nothing is under way. */
  async drained(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#onDrained = resolve))
  }
}
