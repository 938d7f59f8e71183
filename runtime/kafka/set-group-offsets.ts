import type { Kafka } from 'kafkajs'
import { PermanentError } from '../errors.ts'
import { asUnavailable, withAdmin } from './with-admin.ts'

/** The next record that a group reads from a partition. */
export interface GroupOffset {
  topic: string
  partition: number
  offset: bigint
  /** Metadata for the partition's next owner; absent: none, which clears crash marks. */
  metadata?: string
}

/**
 * Moves a group without members: all partitions at once, where kafkajs's own command rejoins for each topic.
 * Throws PermanentError (`GROUP_IN_USE`) while the group has a member, TransientError (`KAFKA_UNAVAILABLE`).
 */
export async function setGroupOffsets(
  kafka: Kafka,
  groupId: string,
  offsets: readonly GroupOffset[],
): Promise<void> {
  if (offsets.length === 0) return
  await assertEmpty(kafka, groupId)
  const topics = [...Map.groupBy(offsets, ({ topic }) => topic)].map(([topic]) => topic)
  // Only a member can commit. This one is briefly the only member, and fetches nothing.
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false, retry: { retries: 3 } })
  const joined = Promise.withResolvers<undefined>()
  try {
    await consumer.connect()
    await consumer.subscribe({ topics, fromBeginning: true })
    consumer.on(consumer.events.GROUP_JOIN, () => {
      consumer.pause(topics.map((topic) => ({ topic })))
      joined.resolve(undefined)
    })
    consumer.on(consumer.events.CRASH, ({ payload }) => joined.reject(payload.error))
    await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: () => Promise.resolve() })
    await joined.promise
    await consumer.commitOffsets(offsets.map((each) => ({ ...each, offset: String(each.offset) })))
  } catch (error) {
    throw asUnavailable(error)
  } finally {
    await consumer.disconnect()
  }
}

async function assertEmpty(kafka: Kafka, groupId: string): Promise<void> {
  const { groups } = await withAdmin(kafka, (admin) => admin.describeGroups([groupId]))
  const count = groups[0]?.members.length ?? 0
  if (count > 0) throw new PermanentError('GROUP_IN_USE', `${groupId} has ${count} members: stop them first`)
}
