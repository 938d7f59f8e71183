import type { Admin, ITopicMetadata, PartitionMetadata } from 'kafkajs'
import { typeOfError } from './protocol-errors.ts'

/**
 * The partitions of the existing topics among `names`; null: one of them has no leader, and no more is known.
 */
export type TopicPartitions = ReadonlyMap<string, readonly PartitionMetadata[] | null>

/** kafkajs's error to most admin requests while any partition of the cluster has no leader. */
export function isWithoutLeader(error: unknown): boolean {
  return typeOfError(error) === 'LEADER_NOT_AVAILABLE'
}

/**
 * Describes topics also while partitions have no leader. kafkajs then drops a whole answer after about 5 s of
 * retries, so topics are requested one by one.
 */
export async function readTopics(admin: Admin, names: readonly string[]): Promise<TopicPartitions> {
  try {
    // One request for all topics: a request by name fails as a whole when one does not exist.
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
