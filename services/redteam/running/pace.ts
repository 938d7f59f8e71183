import type { Clock } from '#runtime/clock.ts'

/** When the next request may go out: all of a run's senders ask it. */
export interface Pace {
  /** Resolves when it is this sender's turn, or at once when `signal` aborts. */
  turn(signal: AbortSignal): Promise<void>
  /** Nobody sends for so long: the target asked for it. */
  hold(ms: number): void
}

/** No target may ask for more (post-json.ts); a hold that lies further ahead is of a clock that was set back. */
const longestHoldMs = 300_000

/** Turns are given out evenly over the minute, so that no second of it has more than its share. */
export function createPace(clock: Clock, perMinute: number | undefined): Pace {
  const gapMs = perMinute === undefined ? 0 : 60_000 / perMinute
  let nextAtMs = 0
  let heldUntilMs = 0
  let waiting = 0
  return {
    async turn(signal) {
      // Behind those that wait, and no later: had the clock been set back an hour, the next turn would lie an hour ahead.
      const atMs = Math.max(clock.now(), Math.min(nextAtMs, clock.now() + (waiting + 1) * gapMs))
      nextAtMs = atMs + gapMs
      waiting++
      if (atMs > clock.now()) await clock.sleep(atMs - clock.now(), signal)
      // Held anew while it waited: it goes on waiting.
      while (!signal.aborted && heldUntilMs > clock.now()) {
        heldUntilMs = Math.min(heldUntilMs, clock.now() + longestHoldMs)
        await clock.sleep(heldUntilMs - clock.now(), signal)
      }
      waiting--
    },
    hold(ms) {
      heldUntilMs = Math.max(heldUntilMs, clock.now() + ms)
    },
  }
}
