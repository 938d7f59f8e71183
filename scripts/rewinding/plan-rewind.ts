import type { Admin, Kafka } from 'kafkajs'
import type { Client } from 'pg'
import type { GroupOffset } from '#runtime/kafka/set-group-offsets.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { deadLetterTopic, topics, type TopicDefinition } from '#schemas/topics.ts'
import { readPositions } from './read-positions.ts'

/** New position of one group. */
export interface GroupRewind {
  groupId: string
  /** Current members; a group with members cannot be moved. */
  members: number
  offsets: GroupOffset[]
  /** Records that are read again. */
  again: bigint
  /** Records that are neither in the tables nor in Kafka any more. */
  gone: bigint
}

interface Bounds {
  low: bigint
  high: bigint
  committed: bigint
}

interface RewindOptions {
  prefix: string
  sinceMs: number
  /** Also read calls from then on, although the tables claim to have more. */
  callsSinceMs?: number | undefined
}

const callTopics = [topics.requestLogged, topics.requestEphemeral]
const deadLetterTopics = Object.values(topics)
  .filter((topic: TopicDefinition) => topic.deadLetters)
  .map(({ name }) => deadLetterTopic(name))

/**
 * Positions from which the sinks' groups must read to give a restored database all that it misses. Groups of
 * calls start where the database says (`sink_positions`) or at `callsSinceMs`, others at `sinceMs`. No group
 * moves forward, and redelivered records are recognised.
 */
export async function planRewind(
  kafka: Kafka,
  database: Client,
  { prefix, sinceMs, callsSinceMs = Infinity }: RewindOptions,
): Promise<GroupRewind[]> {
  return withAdmin(kafka, async (admin) => {
    const { clusterId } = await admin.describeCluster()
    const stored = await readPositions(database, clusterId)
    const named = (names: readonly string[]) => names.map((name) => prefix + name)
    const plan = (group: string, names: readonly string[], startOf: StartOf) =>
      planGroup(admin, prefix + group, named(names), startOf)
    const byTime =
      (ms: number): StartOf =>
      async (topic) => {
        const found = await admin.fetchTopicOffsetsByTimestamp(topic, ms)
        const starts = new Map(found.map(({ partition, offset }) => [partition, BigInt(offset)]))
        return (partition, { low }) => starts.get(partition) ?? low
      }
    const byPosition: StartOf = async (topic) => {
      const timed = callsSinceMs === Infinity ? undefined : await byTime(callsSinceMs)(topic)
      return (partition, bounds) => {
        const position = stored.get(`${topic}/${partition}`) ?? 0n
        return timed === undefined ? position : smaller(position, timed(partition, bounds))
      }
    }
    return [
      await plan(
        'sink-calls',
        callTopics.map(({ name }) => name),
        byPosition,
      ),
      await plan('sink-scores', [topics.scoreRecorded.name], byTime(sinceMs)),
      await plan('sink-dead-letters', deadLetterTopics, byTime(sinceMs)),
    ]
  })
}

/** Returns the start of each partition of a topic. */
type StartOf = (topic: string) => Promise<(partition: number, bounds: Bounds) => bigint>

async function planGroup(
  admin: Admin,
  groupId: string,
  names: readonly string[],
  startOf: StartOf,
): Promise<GroupRewind> {
  const { groups } = await admin.describeGroups([groupId])
  const plan: GroupRewind = {
    groupId,
    members: groups[0]?.members.length ?? 0,
    offsets: [],
    again: 0n,
    gone: 0n,
  }
  const committed = await admin.fetchOffsets({ groupId, topics: [...names] })
  for (const { topic, partitions } of committed) {
    const ends = new Map((await admin.fetchTopicOffsets(topic)).map((end) => [end.partition, end]))
    const start = await startOf(topic)
    for (const { partition, offset } of partitions) {
      const end = ends.get(partition)
      // A group without a committed offset starts at the beginning anyway.
      if (end === undefined || offset === '-1') continue
      const bounds = { low: BigInt(end.low), high: BigInt(end.high), committed: BigInt(offset) }
      const wanted = smaller(start(partition, bounds), bounds.committed)
      const next = greatest(wanted, bounds.low)
      plan.offsets.push({ topic, partition, offset: next })
      plan.again += greatest(bounds.committed - next, 0n)
      plan.gone += next - wanted
    }
  }
  return plan
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

function greatest(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
