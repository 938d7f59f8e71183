import type { Clock } from '#runtime/clock.ts'
import type { OnWaiting } from './permits.ts'
import { createWaitingLines, lanes, type Lane, type Waiter } from './waiting-lines.ts'

/** How much a provider takes in a minute. */
export interface RateLimit {
  /** Resolves when `amount` may be sent: live before replay, and projects in turns. Rejects with the signal's reason when it aborts meanwhile. */
  take(amount: number, signal: AbortSignal, who: Waiter): Promise<void>
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
export function createRateLimit(perMinute: number | null, clock: Clock, onWaiting?: OnWaiting): RateLimit {
  if (perMinute === null) return noLimit
  const burst = Math.max(1, perMinute * burstShare)
  let level = burst
  let filledAtMs = clock.now()
  let waking = new AbortController()
  let isAdmitting = false
  const lines = createWaitingLines()

  const fill = () => {
    const nowMs = clock.now()
    level = Math.min(burst, level + (perMinute * Math.max(0, nowMs - filledAtMs)) / minuteMs)
    filledAtMs = nowMs
  }
  const nextLane = (): Lane | undefined => lanes.find((lane) => !lines.isEmpty(lane))
  /** Who is next is asked after each pause: a live call that came meanwhile goes before the replay that the pause was for. */
  const admit = async () => {
    if (isAdmitting) return
    isAdmitting = true
    for (let lane = nextLane(); lane !== undefined; lane = nextLane()) {
      fill()
      if (level > 0) lines.admit(lane)
      else {
        waking = new AbortController()
        await clock.sleep(Math.ceil((-level * minuteMs) / perMinute) + 1, waking.signal)
      }
    }
    isAdmitting = false
  }
  return {
    async take(amount, signal, who) {
      const turn = lines.wait(who, signal, () => {
        level -= amount
      })
      onWaiting?.(who.lane, 1)
      void admit()
      try {
        await turn
      } catch (error) {
        // Perhaps nobody is left to pause for.
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
