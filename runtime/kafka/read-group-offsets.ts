import type { Kafka } from 'kafkajs'
import { messageOf, TransientError } from '../errors.ts'
import { isKafkaTrouble } from './group-errors.ts'

/** A topic's end offsets and a group's progress, by partition. */
export interface GroupOffsets {
  ends: ReadonlyMap<number, bigint>
  /** What the group has handled or retention has deleted: a group commits nothing in an empty partition. */
  handled: ReadonlyMap<number, bigint>
}

/** Reads them from the cluster. Throws TransientError when it does not answer. */
export async function readGroupOffsets(kafka: Kafka, topic: string, groupId: string): Promise<GroupOffsets> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    // In sequence: in parallel, kafkajs continues one request after the other has failed and the client has
    // disconnected, and leaks its connection. For a missing topic the first fails at once, the other after 8
    // s of retries.
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

/** Whether everything before `ends` has been handled. A topic recreated since then has none of it. */
export function hasPassed({ handled, ends: now }: GroupOffsets, ends: ReadonlyMap<number, bigint>): boolean {
  return [...ends].every(
    ([partition, end]) => (now.get(partition) ?? 0n) < end || (handled.get(partition) ?? 0n) >= end,
  )
}
