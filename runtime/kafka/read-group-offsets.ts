import type { Kafka } from 'kafkajs'
import { messageOf, TransientError } from '../errors.ts'
import { isKafkaTrouble } from './group-errors.ts'

/** How far a topic goes and how far a group has come, by partition. */
export interface GroupOffsets {
  ends: ReadonlyMap<number, bigint>
  /** What the group has handled, or what is not there any more: a group commits nothing where retention has left nothing. */
  handled: ReadonlyMap<number, bigint>
}

/** Asks the cluster. Throws TransientError when it does not answer. */
export async function readGroupOffsets(kafka: Kafka, topic: string, groupId: string): Promise<GroupOffsets> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    // One after the other: asked together, kafkajs goes on with one when the other has failed and its client has been disconnected, and nobody
    // closes the connection that it makes for that. Of a topic that is missing the first says so at once, the other after 8 s of trying again.
    const committed = await admin.fetchOffsets({ groupId, topics: [topic] })
    const offsets = await admin.fetchTopicOffsets(topic)
    const handled = new Map(offsets.map(({ partition, low }) => [partition, BigInt(low)]))
    for (const { partition, offset } of committed.flatMap(({ partitions }) => partitions)) {
      if (BigInt(offset) > (handled.get(partition) ?? 0n)) handled.set(partition, BigInt(offset))
    }
    return { ends: new Map(offsets.map(({ partition, high }) => [partition, BigInt(high)])), handled }
  } catch (error) {
    if (!isKafkaTrouble(error)) throw error
    throw new TransientError('KAFKA_UNAVAILABLE', messageOf(error), { cause: error })
  } finally {
    await admin.disconnect()
  }
}

/** Whether everything that stood before `ends` has been handled. A topic that was made anew since then has nothing of it. */
export function hasPassed({ handled, ends: now }: GroupOffsets, ends: ReadonlyMap<number, bigint>): boolean {
  return [...ends].every(
    ([partition, end]) => (now.get(partition) ?? 0n) < end || (handled.get(partition) ?? 0n) >= end,
  )
}
