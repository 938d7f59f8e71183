import type { Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import { passQueues, type Queue, type QueueEnds } from './follow-queues.ts'
import { readTimeAgo } from '../stores/claim-store.ts'

export interface ScoredUntilDependencies {
  pool: Pool
  kafka: Kafka
  /** What a stored call goes through until its scores are stored, in that order. */
  queues: readonly Queue[]
  /** A call that was stored this long ago stands in the first queue, or never will by itself. */
  ageMs: number
}

/**
 * Each call asks how far the queues have come, and resolves to a time by the database's clock: what was stored before has been through all of them, so
 * that what has no scores by then gets none by itself. Undefined until that is known.
 */
export function createScoredUntil({
  pool,
  kafka,
  queues,
  ageMs,
}: ScoredUntilDependencies): () => Promise<Date | undefined> {
  let until: Date | undefined
  let next: { storedBefore: Date; awaited?: QueueEnds } | undefined

  return async () => {
    // Before any ends are read.
    next ??= { storedBefore: await readTimeAgo(pool, ageMs) }
    const { storedBefore } = next
    const awaited = await passQueues(kafka, queues, next.awaited)
    next = awaited && { storedBefore, awaited }
    if (next === undefined) until = storedBefore
    return until
  }
}
