import type { Clock } from '#runtime/clock.ts'

/** When the next request may go out: all of a run's senders ask it. */
export interface Pace {
  /** Resolves when it is this sender's turn, or at once when `signal` aborts. */
  turn(signal: AbortSignal): Promise<void>
  /** Nobody sends for so long: the target asked for it. */
  hold(ms: number): void
}

/** Turns are given out evenly over the minute, so that no second of it has more than its share. */
export function createPace(clock: Clock, perMinute: number | undefined): Pace {
  const gapMs = perMinute === undefined ? 0 : 60_000 / perMinute
  let nextAtMs = 0
  let heldUntilMs = 0
  return {
    async turn(signal) {
      const atMs = Math.max(clock.now(), nextAtMs)
      nextAtMs = atMs + gapMs
      // Held anew while it waited: it goes on waiting.
      for (let untilMs = Math.max(atMs, heldUntilMs); !signal.aborted; untilMs = heldUntilMs) {
        const leftMs = untilMs - clock.now()
        if (leftMs <= 0 && heldUntilMs <= clock.now()) return
        await clock.sleep(Math.max(1, leftMs), signal)
      }
    },
    hold(ms) {
      heldUntilMs = Math.max(heldUntilMs, clock.now() + ms)
    },
  }
}
