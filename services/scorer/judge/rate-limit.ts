import type { Clock } from '#runtime/clock.ts'
import type { OnWaiting } from './permits.ts'
import { createWaitQueue, lanes, type Lane, type Waiter } from './wait-queue.ts'

/** A provider's limit per minute. */
export interface RateLimit {
  /**
   * Resolves when `amount` may be sent: live before replay, projects in turn. Rejects with the signal's
   * reason if it aborts first.
   */
  take(amount: number, signal: AbortSignal, who: Waiter): Promise<void>
  /** Corrects an earlier estimate by `amount`. */
  correct(amount: number): void
}

const minuteMs = 60_000
/** Burst after an idle time. Providers count in shorter intervals than the minute that they document. */
const burstShare = 1 / 6

const noLimit: RateLimit = {
  take: () => Promise.resolve(),
  correct() {},
}

/**
 * A token bucket that may be overdrawn by one request: one larger than the burst passes when any tokens are
 * left, and later ones wait for it. `perMinute` null: no limit.
 */
export function createRateLimit(perMinute: number | null, clock: Clock, onWaiting?: OnWaiting): RateLimit {
  if (perMinute === null) return noLimit
  const burst = Math.max(1, perMinute * burstShare)
  let level = burst
  let filledAtMs = clock.now()
  let waking = new AbortController()
  let isAdmitting = false
  const queue = createWaitQueue()

  const fill = () => {
    const nowMs = clock.now()
    level = Math.min(burst, level + (perMinute * Math.max(0, nowMs - filledAtMs)) / minuteMs)
    filledAtMs = nowMs
  }
  const nextLane = (): Lane | undefined => lanes.find((lane) => !queue.isEmpty(lane))
  /** Picks the next waiter after each pause, so a live call that arrived meanwhile goes before a replay. */
  const admit = async () => {
    if (isAdmitting) return
    isAdmitting = true
    for (let lane = nextLane(); lane !== undefined; lane = nextLane()) {
      fill()
      if (level > 0) queue.admit(lane)
      else {
        waking = new AbortController()
        await clock.sleep(Math.ceil((-level * minuteMs) / perMinute) + 1, waking.signal)
      }
    }
    isAdmitting = false
  }
  return {
    async take(amount, signal, who) {
      const turn = queue.wait(who, signal, () => {
        level -= amount
      })
      onWaiting?.(who.lane, 1)
      void admit()
      try {
        await turn
      } catch (error) {
        // The queue may be empty now.
        waking.abort()
        throw error
      } finally {
        onWaiting?.(who.lane, -1)
      }
    },
    correct(amount) {
      level -= amount
      waking.abort()
    },
  }
}
