import { createPermits, type OnWaiting } from './judge/permits.ts'
import type { Waiter } from './judge/wait-queue.ts'

/** Memory budget for calls being read. Large calls wait for each other. */
export interface CallBudget {
  /** Calls below this size never wait: their total is bounded by the number of concurrent jobs. */
  readonly smallBytes: number
  /**
   * Runs `work`, which holds a call of `bytes`, once there is room. Rejects with the signal's reason if it
   * aborts while waiting.
   */
  run<T>(bytes: number, work: () => Promise<T>, signal: AbortSignal, who: Waiter): Promise<T>
}

interface CallBudgetOptions {
  /** Another call is admitted while less than this is taken, so the peak is this plus one call. */
  maxBytes: number
  smallBytes: number
  onChange: (usedBytes: number) => void
  onWaiting?: OnWaiting
}

export function createCallBudget({
  maxBytes,
  smallBytes,
  onChange,
  onWaiting,
}: CallBudgetOptions): CallBudget {
  const permits = createPermits(maxBytes, { onTaken: onChange, onWaiting })
  return {
    smallBytes,
    run: (bytes, work, signal, who) => (bytes < smallBytes ? work() : permits.run(work, signal, who, bytes)),
  }
}
