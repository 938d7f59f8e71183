import type { Admin, Kafka } from 'kafkajs'
import { topics } from '#schemas/topics.ts'

/** What a consumer group has not read of a topic yet. */
export interface TopicLag {
  group: string
  topic: string
  lag: number
  partitions: number
  /** Consumers in the group, over all its topics. */
  members: number
}

export interface KafkaLag {
  groups: TopicLag[]
  /** The age of the oldest unfinished job; null: none. */
  oldest_job_age_s: number | null
}

/** This product's groups; the cluster may be shared. */
const ours = /^(sink|scorer|notifier)(-|$)/
const jobTopics = new Set<string>([topics.scoreJobs.name, topics.scoreJobsLarge.name])
/** The retention of jobs. Halved twenty times it is less than a second. */
const jobsKeptMs = topics.scoreJobs.retentionMs
const halvings = 20

interface PartitionPosition {
  partition: number
  /** The first unfinished offset. */
  next: number
}

/** Reads the lag of this installation's consumer groups. */
export async function readLag(kafka: Kafka, prefix: string, nowMs: number): Promise<KafkaLag> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    const listed = (await admin.listGroups()).groups.map(({ groupId }) => groupId)
    const groupIds = listed.filter((id) => id.startsWith(prefix) && ours.test(id.slice(prefix.length)))
    const { groups } = await admin.describeGroups(groupIds)
    const members = new Map(groups.map((group) => [group.groupId, group.members.length]))
    const lags: TopicLag[] = []
    let oldest: number | null = null
    for (const groupId of groupIds.sort()) {
      for (const committed of await admin.fetchOffsets({ groupId })) {
        const { lag, positions } = await behindOf(admin, committed)
        const topic = committed.topic.slice(prefix.length)
        const of = { lag, partitions: committed.partitions.length, members: members.get(groupId) ?? 0 }
        lags.push({ group: groupId.slice(prefix.length), topic, ...of })
        if (!jobTopics.has(topic) || positions.length === 0) continue
        const madeMs = await oldestOf(admin, committed.topic, positions, nowMs)
        oldest = Math.max(oldest ?? 0, nowMs - madeMs)
      }
    }
    return { groups: lags, oldest_job_age_s: oldest === null ? null : Math.round(oldest / 1_000) }
  } finally {
    await admin.disconnect()
  }
}

/**
 * The records after a group's committed offsets, and their positions. Records deleted by retention are not
 * waiting.
 */
async function behindOf(
  admin: Admin,
  { topic, partitions }: Awaited<ReturnType<Admin['fetchOffsets']>>[number],
): Promise<{ lag: number; positions: PartitionPosition[] }> {
  const ends = new Map((await admin.fetchTopicOffsets(topic)).map((end) => [end.partition, end]))
  const positions: PartitionPosition[] = []
  let lag = 0
  for (const { partition, offset } of partitions) {
    const { low, high } = ends.get(partition) ?? { low: '0', high: '0' }
    const next = Math.max(Number(offset), Number(low))
    if (next >= Number(high)) continue
    lag += Number(high) - next
    positions.push({ partition, next })
  }
  return { lag, positions }
}

/**
 * The time of the oldest of these records, to a second. Kafka maps times to offsets, so the time is found by
 * bisection.
 */
async function oldestOf(
  admin: Admin,
  topic: string,
  positions: readonly PartitionPosition[],
  nowMs: number,
): Promise<number> {
  let [before, after] = [nowMs - jobsKeptMs, nowMs]
  for (let round = 0; round < halvings; round++) {
    const middle = Math.floor((before + after) / 2)
    const first = new Map(
      (await admin.fetchTopicOffsetsByTimestamp(topic, middle)).map(({ partition, offset }) => [
        partition,
        Number(offset),
      ]),
    )
    // From `middle` on every record is after a waiting one, so that one is older.
    const isOlder = positions.some(({ partition, next }) => (first.get(partition) ?? 0) > next)
    if (isOlder) after = middle
    else before = middle
  }
  return before
}
