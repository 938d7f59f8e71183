/** Attempts that may begin at once after a pause: what falls due in a slow round, and at least 8. */
const burst = { ms: 250, min: 8 }

export interface SlowPaceOptions {
  /** Permits that slow endpoints share. */
  permits: number
  /** Time until all of them are in use if nothing answers. */
  overMs: number
  now: () => number
}

/**
 * Paces attempts at slow endpoints. Hanging attempts that begin together end together after 10 s, and so
 * would all that follow. So permits come into use one by one. After an attempt that ended early another may
 * begin.
 */
export class SlowPace {
  readonly #options: SlowPaceOptions
  readonly #burst: number
  /** Permits that have fallen due; a fraction counts once it is whole. */
  #fresh: number
  /** Permits of attempts that ended early. */
  #freed = 0
  #atMs: number

  constructor(options: SlowPaceOptions) {
    this.#options = options
    this.#burst = Math.max(burst.min, (options.permits * burst.ms) / options.overMs)
    this.#fresh = this.#burst
    this.#atMs = options.now()
  }

  /** How many attempts may begin now. */
  max(): number {
    const { permits, overMs, now } = this.#options
    const nowMs = now()
    this.#fresh = Math.min(this.#burst, this.#fresh + (Math.max(0, nowMs - this.#atMs) * permits) / overMs)
    this.#atMs = nowMs
    return Math.floor(this.#fresh) + this.#freed
  }

  begun(): void {
    if (this.#freed > 0) this.#freed--
    else this.#fresh--
  }

  /** Fewer began than were allowed: nothing waits for the permits of attempts that ended early. */
  wasEnough(): void {
    this.#freed = 0
  }

  /** An attempt ended before its 10 s were over. */
  endedEarly(): void {
    this.#freed = Math.min(this.#options.permits, this.#freed + 1)
  }
}
