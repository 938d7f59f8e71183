import type { Clock } from '../clock.ts'
import { SluiceError } from '../errors.ts'

/** How long a consumer retries transient failures before its process ends and is restarted. */
export interface RetryPolicy {
  /** Total attempts, the first included. */
  attempts: number
  initialDelayMs: number
  maxDelayMs: number
}

/** About two minutes in all, so that a process survives an outage of one minute. */
export const defaultRetryPolicy: RetryPolicy = { attempts: 20, initialDelayMs: 100, maxDelayMs: 10_000 }

/** Doubles after each failed attempt, from 1 on. The random half spreads consumers out. */
export function retryDelayMs(policy: RetryPolicy, failedAttempts: number, random = Math.random): number {
  const full = Math.min(policy.initialDelayMs * 2 ** (failedAttempts - 1), policy.maxDelayMs)
  return full / 2 + (random() * full) / 2
}

/** The wait for the next attempt was cancelled: the consumer stops or has lost the partition. */
export class Interrupted extends Error {
  constructor() {
    super('given up before the next attempt')
    this.name = 'Interrupted'
  }
}

/** The work takes longer than `patienceMs`: the caller makes the next attempt. */
export class Postponed extends Error {
  readonly failedAttempts: number
  readonly delayMs: number

  constructor(failedAttempts: number, delayMs: number) {
    super('put off until another attempt')
    this.name = 'Postponed'
    this.failedAttempts = failedAttempts
    this.delayMs = delayMs
  }
}

export interface RetryContext {
  policy: RetryPolicy
  clock: Clock
  /** Cancels the wait, not an attempt under way. */
  signal: AbortSignal
  onRetry(error: SluiceError, failedAttempts: number): void
  /** Failed attempts before the work was postponed. */
  failedBefore?: number
  /** Work that does not succeed within this time is postponed; absent: never. */
  patienceMs?: number
}

function isTransient(error: unknown): error is SluiceError {
  return error instanceof SluiceError && error.retry === 'later'
}

/**
 * Runs `work` until it resolves or throws a non-transient error. Throws the last error after the final
 * attempt, Interrupted, or Postponed.
 */
export async function retryTransient<T>(work: () => Promise<T>, context: RetryContext): Promise<T> {
  const { policy, clock, signal, failedBefore = 0, patienceMs = Infinity } = context
  const beganMs = clock.now()
  for (let attempt = failedBefore + 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isTransient(error) || attempt >= policy.attempts) throw error
      context.onRetry(error, attempt)
      const delayMs = retryDelayMs(policy, attempt)
      if (clock.now() - beganMs + delayMs > patienceMs) throw new Postponed(attempt, delayMs)
      await clock.sleep(delayMs, signal)
      if (signal.aborted) throw new Interrupted()
    }
  }
}
