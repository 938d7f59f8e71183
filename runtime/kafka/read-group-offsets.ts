import type { Kafka } from 'kafkajs'
import { messageOf, TransientError } from '../errors.ts'
import { isKafkaTrouble } from './group-errors.ts'

/** How far a topic goes and how far a group has come, by partition. */
export interface GroupOffsets {
  ends: ReadonlyMap<number, bigint>
  /** What the group has handled; -1 where it has committed nothing. */
  committed: ReadonlyMap<number, bigint>
}

/** Asks the cluster. Throws TransientError when it does not answer. */
export async function readGroupOffsets(kafka: Kafka, topic: string, groupId: string): Promise<GroupOffsets> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    const [ends, committed] = await Promise.all([
      admin.fetchTopicOffsets(topic),
      admin.fetchOffsets({ groupId, topics: [topic] }),
    ])
    return {
      ends: new Map(ends.map(({ partition, high }) => [partition, BigInt(high)])),
      committed: new Map(
        committed.flatMap(({ partitions }) =>
          partitions.map(({ partition, offset }): [number, bigint] => [partition, BigInt(offset)]),
        ),
      ),
    }
  } catch (error) {
    if (!isKafkaTrouble(error)) throw error
    throw new TransientError('KAFKA_UNAVAILABLE', messageOf(error), { cause: error })
  } finally {
    await admin.disconnect()
  }
}
