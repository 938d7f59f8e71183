import type { EachBatchPayload } from 'kafkajs'
import { isRebalance } from './group-errors.ts'

export interface Heartbeat {
  /** Aborts on a rebalance or when the consumer stops: the work should end. */
  readonly ended: AbortSignal
  /** kafkajs's error on a rebalance. */
  rebalance(): Error | null
  stop(): void
}

/**
 * Sends heartbeats while a batch is handled, however long that takes; kafkajs sends them only between
 * batches.
 */
export function beatWhile(payload: EachBatchPayload, intervalMs: number, stopping: AbortSignal): Heartbeat {
  const ended = new AbortController()
  let rebalance: Error | null = null
  const beat = () => {
    payload.heartbeat().catch((error: unknown) => {
      // The next commit or fetch meets a connection failure again and handles it.
      if (!isRebalance(error)) return
      rebalance = error
      ended.abort()
    })
  }
  const end = () => ended.abort()
  if (stopping.aborted) end()
  stopping.addEventListener('abort', end, { once: true })
  // Twice as often as needed: kafkajs omits a heartbeat that comes slightly early.
  const timer = setInterval(beat, intervalMs / 2)
  return {
    ended: ended.signal,
    rebalance: () => rebalance,
    stop() {
      clearInterval(timer)
      stopping.removeEventListener('abort', end)
    },
  }
}
