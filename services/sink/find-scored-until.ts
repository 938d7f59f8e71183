import type { Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import { hasPassed, readGroupOffsets } from '#runtime/kafka/read-group-offsets.ts'
import { readTimeAgo } from './stores/claim-store.ts'

/** A topic, and the group whose offsets say how much of it has been done. */
export interface Queue {
  topic: string
  groupId: string
}

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
 * that what has no scores by then gets none by itself. Undefined until that is known. The ends of a queue are taken once the ends of the one before
 * have been passed: a score is on its topic before its job's offset moves.
 */
export function createScoredUntil({
  pool,
  kafka,
  queues,
  ageMs,
}: ScoredUntilDependencies): () => Promise<Date | undefined> {
  let until: Date | undefined
  let next: { storedBefore: Date; place: number; ends?: ReadonlyMap<number, bigint> } | undefined

  return async () => {
    // Before any ends are read.
    next ??= { storedBefore: await readTimeAgo(pool, ageMs), place: 0 }
    for (const { topic, groupId } of queues.slice(next.place)) {
      const offsets = await readGroupOffsets(kafka, topic, groupId)
      next.ends ??= offsets.ends
      if (!hasPassed(offsets, next.ends)) return until
      next = { storedBefore: next.storedBefore, place: next.place + 1 }
    }
    until = next.storedBefore
    next = undefined
    return until
  }
}
