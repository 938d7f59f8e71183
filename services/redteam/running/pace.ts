import type { Clock } from '#runtime/clock.ts'

/** When the next request may go out. All senders of a run ask it, and report the result. */
export interface Pace {
  /**
   * Resolves at the turn of this sender, or at once when `signal` aborts. The number is for `turnedAway` and
   * `taken`.
   */
  turn(signal: AbortSignal): Promise<number>
  /** Stops all senders for that time. */
  hold(ms: number): void
  /**
   * The target asked for a pause: all senders stop, then send more slowly. Returns how often in a row, with
   * nothing taken in between.
   */
  turnedAway(turn: number, ms: number): number
  /** The target worked on it: senders may go a little faster. */
  taken(turn: number): void
}

/** Maximum that a target may ask for (post-json.ts). A later hold comes from a clock that was set back. */
const longestHoldMs = 300_000
/**
 * Gap between two sends to a target that turns some away. Without it, 16 senders at one request a second gave
 * up 98 of 200 attempts after nine tries each, and were turned away 1,473 times. With it they give up none
 * and are turned away 49 times (pace.test.ts).
 */
const slowGap = { firstMs: 100, longestMs: 5_000, noneBelowMs: 10, narrowedTo: 0.9 } as const

/** Gives out turns one by one, in the order of asking and evenly over the minute. */
export function createPace(clock: Clock, perMinute: number | undefined): Pace {
  const ownGapMs = perMinute === undefined ? 0 : 60_000 / perMinute
  let slowGapMs = 0
  let nextAtMs = 0
  let heldUntilMs = 0
  let [slowed, slowedBeforeTaken] = [0, 0]
  let last: Promise<unknown> = Promise.resolve()
  const gapMs = () => Math.max(ownGapMs, slowGapMs)

  async function wait(askedAtMs: number, signal: AbortSignal): Promise<number> {
    let nowMs = clock.now()
    while (!signal.aborted) {
      // A hold further ahead was set before the clock was set back.
      heldUntilMs = Math.min(heldUntilMs, nowMs + longestHoldMs)
      nextAtMs = Math.min(nextAtMs, nowMs + gapMs())
      const atMs = Math.max(heldUntilMs, nextAtMs)
      if (atMs <= nowMs) break
      await clock.sleep(atMs - nowMs, signal)
      nowMs = clock.now()
    }
    // Counted from its due time, to make up for a late timer.
    nextAtMs = Math.min(nowMs, Math.max(nextAtMs, heldUntilMs, askedAtMs)) + gapMs()
    return slowed
  }

  function hold(ms: number): void {
    heldUntilMs = Math.max(heldUntilMs, clock.now() + ms)
  }

  return {
    turn(signal) {
      const askedAtMs = clock.now()
      const turn = last.then(() => wait(askedAtMs, signal))
      last = turn
      return turn
    },
    hold,
    turnedAway(turn, ms) {
      hold(ms)
      // Requests under way were sent before the pause was known: together they count once.
      if (turn === slowed) {
        slowed++
        slowGapMs = Math.min(slowGap.longestMs, Math.max(slowGap.firstMs, 2 * gapMs()))
      }
      return slowed - slowedBeforeTaken
    },
    taken(turn) {
      slowedBeforeTaken = slowed
      if (turn !== slowed) return
      const narrowedMs = slowGapMs * slowGap.narrowedTo
      slowGapMs = narrowedMs < slowGap.noneBelowMs ? 0 : narrowedMs
    },
  }
}
