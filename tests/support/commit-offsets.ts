import type { Kafka } from 'kafkajs'

export interface OffsetToCommit {
  topic: string
  partition: number
  offset: string
  metadata?: string
}

/** Commits for a group that has no members. kafkajs's own `admin.setOffsets` waits out a whole fetch for that, 5 s. */
export async function commitOffsets(kafka: Kafka, groupId: string, offsets: OffsetToCommit[]): Promise<void> {
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 })
  const joined = Promise.withResolvers<undefined>()
  consumer.on(consumer.events.GROUP_JOIN, () => joined.resolve(undefined))
  consumer.on(consumer.events.CRASH, ({ payload }) => joined.reject(payload.error))
  try {
    await consumer.connect()
    await consumer.subscribe({ topics: [...new Set(offsets.map(({ topic }) => topic))] })
    await consumer.run({ autoCommit: false, eachMessage: () => Promise.resolve() })
    await joined.promise
    await consumer.commitOffsets(offsets)
  } finally {
    await consumer.disconnect()
  }
}
