import type { Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import { hasPassed, readGroupOffsets } from '#runtime/kafka/read-group-offsets.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { readTimeAgo } from '../stores/claim-store.ts'

/** A topic, and the group whose offsets say how much of it has been done. */
export interface Queue {
  topic: string
  groupId: string
}

/** Offsets by partition that the topic's group has to pass. As text: JSON numbers end at 2^53. */
export interface QueueEnds {
  topic: string
  ends: Record<string, string>
}

/**
 * Follows the records of the first of `queues` through all of them. Call it first without `awaited`, then
 * with its last result. Resolves to the ends that it waits for; undefined: the last queue has passed them.
 *
 * A queue's ends are read once the queue before has passed its own. All outcomes then lie before them: a
 * group's offset moves only once an outcome is in the next topic or the database. What is written later, also
 * from dead letters, is not waited for. New partitions hold no outcome; a topic deleted and made again has
 * lost them (`hasPassed`). If `awaited` is of no known queue, the ends are read again: slower, but correct.
 */
export async function passQueues(
  kafka: Kafka,
  queues: readonly Queue[],
  awaited: QueueEnds | null | undefined,
): Promise<QueueEnds | undefined> {
  const index = queues.findIndex(({ topic }) => topic === awaited?.topic)
  let known = index < 0 ? undefined : awaited?.ends
  for (const { topic, groupId } of queues.slice(Math.max(0, index))) {
    const offsets = await readGroupOffsets(kafka, topic, groupId)
    const ends = known === undefined ? offsets.ends : parseEnds(known)
    if (!hasPassed(offsets, ends)) return { topic, ends: formatEnds(ends) }
    known = undefined
  }
  return undefined
}

function parseEnds(ends: QueueEnds['ends']): Map<number, bigint> {
  return new Map(Object.entries(ends).map(([partition, end]) => [Number(partition), BigInt(end)]))
}

function formatEnds(ends: ReadonlyMap<number, bigint>): QueueEnds['ends'] {
  return Object.fromEntries([...ends].map(([partition, end]) => [String(partition), String(end)]))
}

export interface ScoredUntilDependencies {
  pool: Pool
  kafka: Kafka
  /** The queues of a stored call, in order, until its scores are stored. */
  queues: readonly Queue[]
  /** A call stored this long ago is in the first queue, or needs help to get there. */
  ageMs: number
}

/**
 * Each call checks how far the queues have come. Resolves to a time by the database's clock: calls stored
 * before it have been through all queues, so those without scores get none by themselves. Undefined until
 * known.
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

/** Records on `topic` that `groupId` has not handled. Throws TransientError (`KAFKA_UNAVAILABLE`). */
export function countBacklog(kafka: Kafka, topic: string, groupId: string): Promise<number> {
  return withAdmin(kafka, async (admin) => {
    // One after the other, as in readGroupOffsets.
    const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] })
    const ends = await admin.fetchTopicOffsets(topic)
    const done = new Map(committed?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]))
    return ends.reduce((sum, { partition, low, high }) => {
      const offset = done.get(partition) ?? -1n
      // -1: the group has committed nothing.
      return sum + Number(BigInt(high) - (offset < 0n ? BigInt(low) : offset))
    }, 0)
  })
}
