import type { Kafka } from 'kafkajs'
import { hasPassed, readGroupOffsets } from '#runtime/kafka/read-group-offsets.ts'

/** A topic, and the group whose offsets say how much of it has been done. */
export interface Queue {
  topic: string
  groupId: string
}

/** What is waited for: that the topic's group comes to these ends, by partition. As text: JSON has no larger numbers than 2^53. */
export interface QueueEnds {
  topic: string
  ends: Record<string, string>
}

/**
 * Follows through `queues`, one after the other, what stood in the first of them when this was first asked (`awaited` undefined). Resolves to what it
 * waits for now, to be given with the next question; to undefined once all of that, and what came of it, is behind the last queue.
 *
 * The ends of a queue are taken once those of the one before are passed, so that they lie behind all that came of it: a group's offset moves
 * when a record's outcome stands in the next topic (or in the database), is dropped or is a dead letter, and not while it is tried again. Ends do not
 * move: however much is written behind them, a queue passes them. What is sent again from the dead letters stands behind them and is not waited for.
 * Partitions that are added later hold nothing of it; a topic that was made anew has lost it (`hasPassed`). Where `awaited` is lost, or is of a queue
 * that is none any more, ends are taken anew: that takes longer, and is as right.
 */
export async function passQueues(
  kafka: Kafka,
  queues: readonly Queue[],
  awaited: QueueEnds | null | undefined,
): Promise<QueueEnds | undefined> {
  const place = queues.findIndex(({ topic }) => topic === awaited?.topic)
  let known = place < 0 ? undefined : awaited?.ends
  for (const { topic, groupId } of queues.slice(Math.max(0, place))) {
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
