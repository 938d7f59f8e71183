import type { Admin, PartitionMetadata } from 'kafkajs'
import { typeOfError } from './protocol-errors.ts'

/** The partitions of the topics among `names` that are there; null: one of them has no leader, and more is not told. */
export type TopicPartitions = ReadonlyMap<string, readonly PartitionMetadata[] | null>

/** kafkajs answers so to most of what an admin asks, about whatever, while any partition of the cluster has no leader. */
export function isWithoutLeader(error: unknown): boolean {
  return typeOfError(error) === 'LEADER_NOT_AVAILABLE'
}

/**
 * Asks about topics also while partitions have no leader: kafkajs throws the whole answer away then, whatever else was asked, after about 5 s of
 * trying again; so they are asked about one by one.
 */
export async function readTopics(admin: Admin, names: readonly string[]): Promise<TopicPartitions> {
  try {
    const present = new Set(await admin.listTopics())
    return await describe(
      admin,
      names.filter((name) => present.has(name)),
    )
  } catch (error) {
    if (!isWithoutLeader(error)) throw error
  }
  const each = await Promise.all(names.map((name) => describeOne(admin, name)))
  return new Map(each.flatMap((found) => [...found]))
}

async function describe(admin: Admin, names: readonly string[]): Promise<TopicPartitions> {
  if (names.length === 0) return new Map()
  const { topics } = await admin.fetchTopicMetadata({ topics: [...names] })
  return new Map(topics.map(({ name, partitions }) => [name, partitions]))
}

async function describeOne(admin: Admin, name: string): Promise<TopicPartitions> {
  try {
    return await describe(admin, [name])
  } catch (error) {
    if (typeOfError(error) === 'UNKNOWN_TOPIC_OR_PARTITION') return new Map()
    if (!isWithoutLeader(error)) throw error
    return new Map([[name, null]])
  }
}
