/** What may begin at once when nothing did for a while: as much as falls due in so long, which a slow round takes, and a few. */
const burst = { ms: 250, min: 8 }

export interface SlowPaceOptions {
  /** That slow endpoints share. */
  permits: number
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
  readonly #burst: number
  /** Grows with time; a fraction counts once it is whole. */
  #fresh: number
  /** Places of attempts that ended early. */
  #freed = 0
  #atMs: number

  constructor(options: SlowPaceOptions) {
    this.#options = options
    this.#burst = Math.max(burst.min, (options.permits * burst.ms) / options.overMs)
    this.#fresh = this.#burst
    this.#atMs = options.now()
  }

  /** Now. */
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

  /** Fewer began than might: nothing else waits for the places of what ended early. */
  wasEnough(): void {
    this.#freed = 0
  }

  /** Without having taken all the time that it had. */
  endedEarly(): void {
    this.#freed = Math.min(this.#options.permits, this.#freed + 1)
  }
}
