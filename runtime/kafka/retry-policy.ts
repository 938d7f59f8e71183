import type { Clock } from '../clock.ts'
import { SluiceError } from '../errors.ts'

/** How long a consumer keeps trying what failed transiently, before its process gives up and is started anew. */
export interface RetryPolicy {
  /** Tries in all, the first included. */
  attempts: number
  initialDelayMs: number
  maxDelayMs: number
}

/** About two minutes in all: an outage of a minute is waited out inside the process. */
export const defaultRetryPolicy: RetryPolicy = { attempts: 20, initialDelayMs: 100, maxDelayMs: 10_000 }

/** Doubles from the first failed attempt (1) on; the random half keeps consumers from returning all at once. */
export function retryDelayMs(policy: RetryPolicy, failedAttempts: number, random = Math.random): number {
  const full = Math.min(policy.initialDelayMs * 2 ** (failedAttempts - 1), policy.maxDelayMs)
  return full / 2 + (random() * full) / 2
}

/** The wait for the next attempt was ended from outside: the consumer stops or has lost the partition. */
export class Interrupted extends Error {
  constructor() {
    super('given up before the next attempt')
    this.name = 'Interrupted'
  }
}

/** It will take longer than its worker's patience: another attempt is for whoever began this one to make. */
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
  /** Ends the waiting, not the attempt that is under way. */
  signal: AbortSignal
  onRetry(error: SluiceError, failedAttempts: number): void
  /** Attempts that failed before this work was put off. */
  failedBefore?: number
  /** Work that does not succeed within this time is put off; absent: never. */
  patienceMs?: number
}

function isTransient(error: unknown): error is SluiceError {
  return error instanceof SluiceError && error.retry === 'later'
}

/** Runs `work` until it ends otherwise than with a transient error. Throws the last error when the attempts are used up, Interrupted, or Postponed. */
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
