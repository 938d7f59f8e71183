import type { Kafka } from 'kafkajs'
import { ageAt, type Clock } from '../clock.ts'
import { messageOf, TransientError } from '../errors.ts'
import { missingTopic } from './missing-topic.ts'
import { isRefusal, refusal, typeOfError } from './protocol-errors.ts'

/** The metadata age of the Java client: added partitions are used within this time. */
const maxAgeMs = 5 * 60_000

export interface PartitionCounts {
  /** The topic's partition count. Asks the cluster when the last answer is old; throws TransientError. */
  of(topic: string): Promise<number>
  /** Makes the next call ask the cluster. */
  forget(topic: string): void
}

/** Caches the partition count of each topic. Connects only to ask. */
export function createPartitionCounts(kafka: Kafka, clock: Clock): PartitionCounts {
  const known = new Map<string, { count: number; askedAt: number }>()
  return {
    of: async (topic) => {
      const entry = known.get(topic)
      if (entry !== undefined && ageAt(clock.now(), entry.askedAt) < maxAgeMs) return entry.count
      const count = await countPartitions(kafka, topic)
      known.set(topic, { count, askedAt: clock.now() })
      return count
    },
    forget: (topic) => {
      known.delete(topic)
    },
  }
}

async function countPartitions(kafka: Kafka, topic: string): Promise<number> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    // One topic per request: kafkajs does not say which of several is missing.
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    const count = topics[0]?.partitions.length ?? 0
    if (count === 0) throw missingTopic(topic)
    return count
  } catch (error) {
    if (error instanceof TransientError) throw error
    if (typeOfError(error) === 'UNKNOWN_TOPIC_OR_PARTITION') throw missingTopic(topic)
    if (isRefusal(error)) throw refusal(topic, error)
    throw new TransientError('KAFKA_UNAVAILABLE', `cannot ask for topic ${topic}: ${messageOf(error)}`, {
      cause: error,
    })
  } finally {
    await admin.disconnect()
  }
}
