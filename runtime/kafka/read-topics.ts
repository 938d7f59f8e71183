import type { Admin, ITopicMetadata, PartitionMetadata } from 'kafkajs'
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
    // All that there are, in one question: who names one that is not there is told of no other.
    const wanted = new Set(names)
    const all = await admin.fetchTopicMetadata()
    return byName(all.topics.filter(({ name }) => wanted.has(name)))
  } catch (error) {
    if (!isWithoutLeader(error)) throw error
  }
  const each = await Promise.all(names.map((name) => describeOne(admin, name)))
  return new Map(each.flatMap((found) => [...found]))
}

function byName(topics: readonly ITopicMetadata[]): TopicPartitions {
  return new Map(topics.map(({ name, partitions }) => [name, partitions]))
}

async function describeOne(admin: Admin, name: string): Promise<TopicPartitions> {
  try {
    return byName((await admin.fetchTopicMetadata({ topics: [name] })).topics)
  } catch (error) {
    if (typeOfError(error) === 'UNKNOWN_TOPIC_OR_PARTITION') return new Map()
    if (!isWithoutLeader(error)) throw error
    return new Map([[name, null]])
  }
}
