/** Refuses calls to an upstream that gives no answers, so that applications do not wait for its timeouts. */
export interface Breaker {
  /** Whether a call may be sent. While open, one trial may once `openMs` have passed. */
  mayTry(): boolean
  answered(): void
  failed(): void
}

interface Options {
  /** Failures in a row that open it. */
  failures: number
  openMs: number
  now: () => number
  onChange: (isOpen: boolean) => void
}

/** A breaker that is never open. */
export const noBreaker: Breaker = { mayTry: () => true, answered: () => undefined, failed: () => undefined }

export function createBreaker({ failures, openMs, now, onChange }: Options): Breaker {
  let failed = 0
  let nextTryMs = -Infinity
  const isOpen = () => failed >= failures
  return {
    mayTry() {
      if (!isOpen()) return true
      if (now() < nextTryMs) return false
      // The trial's outcome decides; without one by then, another call tries.
      nextTryMs = now() + openMs
      return true
    },
    answered() {
      if (isOpen()) onChange(false)
      failed = 0
    },
    failed() {
      failed++
      if (failed === failures) onChange(true)
      if (isOpen()) nextTryMs = now() + openMs
    },
  }
}
