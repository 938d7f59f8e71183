import type { EachBatchPayload } from 'kafkajs'
import { isRebalance } from './group-errors.ts'

export interface Heartbeat {
  /** Aborts when the group deals anew or the consumer stops: time to come to an end. */
  readonly ended: AbortSignal
  /** kafkajs's error when the group deals anew. */
  rebalance(): Error | null
  stop(): void
}

/** kafkajs beats only between batches: beats while one is worked on, however long that takes. */
export function beatWhile(payload: EachBatchPayload, intervalMs: number, stopping: AbortSignal): Heartbeat {
  const ended = new AbortController()
  let rebalance: Error | null = null
  const beat = () => {
    payload.heartbeat().catch((error: unknown) => {
      // Trouble with the connection is met again, and dealt with, at the next commit or fetch.
      if (!isRebalance(error)) return
      rebalance = error
      ended.abort()
    })
  }
  const end = () => ended.abort()
  if (stopping.aborted) end()
  stopping.addEventListener('abort', end, { once: true })
  // Twice as often as needed: kafkajs leaves out a beat that comes a moment too early.
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
