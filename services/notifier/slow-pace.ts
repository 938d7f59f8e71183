/** So many may begin at once when none did for a while. */
const burst = 8

export interface SlowPaceOptions {
  /** That slow endpoints share. */
  places: number
  /** In which all of them are taken, where nothing answers. */
  overMs: number
  now: () => number
}

/**
 * How many attempts at slow endpoints may begin. What hangs ends ten seconds after it began: taken all at once, all places are free at once, and are
 * taken anew at once, for ever. So places fill bit by bit, and only where an attempt ended before its time another begins at once.
 */
export class SlowPace {
  readonly #options: SlowPaceOptions
  /** Grows with time; a fraction counts once it is whole. */
  #fresh = burst
  /** Places of attempts that ended early. */
  #freed = 0
  #atMs: number

  constructor(options: SlowPaceOptions) {
    this.#options = options
    this.#atMs = options.now()
  }

  /** Now. */
  most(): number {
    const { places, overMs, now } = this.#options
    const nowMs = now()
    this.#fresh = Math.min(burst, this.#fresh + (Math.max(0, nowMs - this.#atMs) * places) / overMs)
    this.#atMs = nowMs
    return Math.floor(this.#fresh) + this.#freed
  }

  begun(): void {
    if (this.#freed > 0) this.#freed--
    else this.#fresh--
  }

  /** Without having taken all the time that it had. */
  endedEarly(): void {
    this.#freed = Math.min(this.#options.places, this.#freed + 1)
  }
}
