import { createPermits, type OnWaiting } from './judge/permits.ts'
import type { Waiter } from './judge/waiting-lines.ts'

/** Memory for calls that are read: large ones wait for each other. */
export interface CallBudget {
  /** Calls that take less wait for nobody: as many as jobs are scored at once are little. */
  readonly smallBytes: number
  /** Runs `work`, which holds a call that takes `bytes`, when there is room. Rejects with the signal's reason when it aborts while waiting. */
  run<T>(bytes: number, work: () => Promise<T>, signal: AbortSignal, who: Waiter): Promise<T>
}

interface RoomOptions {
  /** While less than this is taken another may come in: at most so much and one call. */
  maxBytes: number
  smallBytes: number
  onChange: (usedBytes: number) => void
  onWaiting?: OnWaiting
}

export function createCallBudget({ maxBytes, smallBytes, onChange, onWaiting }: RoomOptions): CallBudget {
  const permits = createPermits(maxBytes, { onTaken: onChange, onWaiting })
  return {
    smallBytes,
    run: (bytes, work, signal, who) => (bytes < smallBytes ? work() : permits.run(work, signal, who, bytes)),
  }
}
