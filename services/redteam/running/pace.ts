import type { Clock } from '#runtime/clock.ts'

/** When the next request may go out: all of a run's senders ask it, and tell it what became of theirs. */
export interface Pace {
  /** Resolves when it is this sender's turn, or at once when `signal` aborts, to what `turnedAway` and `taken` are told of it. */
  turn(signal: AbortSignal): Promise<number>
  /** Nobody sends for so long. */
  hold(ms: number): void
  /** The target asked for that: nobody sends for so long, and then more slowly. Returns how often in a row it has, with nothing taken in between. */
  turnedAway(turn: number, ms: number): number
  /** The target worked on it: they may go a little faster again. */
  taken(turn: number): void
}

/** No target may ask for more (post-json.ts); a hold that lies further ahead is of a clock that was set back. */
const longestHoldMs = 300_000
/**
 * Between two sends to a target that turns some away. Held and then let go together, 16 senders at a target that takes one a second gave up 98 of 200
 * attempts after nine tries each and were turned away 1,473 times; so they give up none and are turned away 49 times (pace.test.ts).
 */
const slowGap = { firstMs: 100, longestMs: 5_000, noneBelowMs: 10, narrowedTo: 0.9 } as const

/** Turns are given out one by one, in the order of asking, and evenly over the minute, so that no second of it has more than its share. */
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
      // No later than either was ever set: had the clock been set back an hour, it would lie an hour ahead.
      heldUntilMs = Math.min(heldUntilMs, nowMs + longestHoldMs)
      nextAtMs = Math.min(nextAtMs, nowMs + gapMs())
      const atMs = Math.max(heldUntilMs, nextAtMs)
      if (atMs <= nowMs) break
      await clock.sleep(atMs - nowMs, signal)
      nowMs = clock.now()
    }
    // Counted from when it was due: a late timer is made up for.
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
      // What was under way meanwhile was sent before anyone could know: together they count once.
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
