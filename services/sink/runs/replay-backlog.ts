import type { Kafka } from 'kafkajs'
import { withAdmin } from '#runtime/kafka/with-admin.ts'

/** Jobs on `topic` that `groupId` has not done. Throws TransientError (`KAFKA_UNAVAILABLE`) when Kafka does not say. */
export function countBacklog(kafka: Kafka, topic: string, groupId: string): Promise<number> {
  return withAdmin(kafka, async (admin) => {
    // One after the other, as in readGroupOffsets.
    const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] })
    const ends = await admin.fetchTopicOffsets(topic)
    const done = new Map(committed?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]))
    return ends.reduce((sum, { partition, low, high }) => {
      const offset = done.get(partition) ?? -1n
      // -1: the group has not been there.
      return sum + Number(BigInt(high) - (offset < 0n ? BigInt(low) : offset))
    }, 0)
  })
}
