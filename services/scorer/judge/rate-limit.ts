import type { Clock } from '#runtime/clock.ts'

/** How much a provider takes in a minute. */
export interface RateLimit {
  /** Resolves when `amount` may be sent, in the order of asking. Rejects with the signal's reason when it aborts meanwhile. */
  take(amount: number, signal: AbortSignal): Promise<void>
  /** What was taken by an estimate turned out to be other by `amount`. */
  correct(amount: number): void
}

const minuteMs = 60_000
/** What may be sent at once after a pause: providers count in shorter spans than the minute that they name. */
const burstShare = 1 / 6

const noLimit: RateLimit = {
  take: () => Promise.resolve(),
  correct() {
    // Nothing is counted.
  },
}

/**
 * Fills evenly and may be overdrawn by one: whatever is larger than the burst passes when there is anything, and the next ones wait for it.
 * `perMinute` null: no limit.
 */
export function createRateLimit(perMinute: number | null, clock: Clock): RateLimit {
  if (perMinute === null) return noLimit
  const burst = Math.max(1, perMinute * burstShare)
  let level = burst
  let filledAtMs = clock.now()
  let waking = new AbortController()
  let last: Promise<unknown> = Promise.resolve()

  const fill = () => {
    const nowMs = clock.now()
    level = Math.min(burst, level + (perMinute * Math.max(0, nowMs - filledAtMs)) / minuteMs)
    filledAtMs = nowMs
  }
  const takeInTurn = async (amount: number, signal: AbortSignal) => {
    fill()
    while (level <= 0) {
      waking = new AbortController()
      const pauseMs = Math.ceil((-level * minuteMs) / perMinute) + 1
      await clock.sleep(pauseMs, AbortSignal.any([signal, waking.signal]))
      signal.throwIfAborted()
      fill()
    }
    level -= amount
  }
  return {
    take(amount, signal) {
      const turn = last.then(() => {
        signal.throwIfAborted()
        return takeInTurn(amount, signal)
      })
      last = turn.catch(() => undefined) // Told to who asked; the next ones only wait for it to be over.
      return turn
    },
    correct(amount) {
      level -= amount
      waking.abort()
    },
  }
}
