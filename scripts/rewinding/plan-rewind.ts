import type { Admin, Kafka } from 'kafkajs'
import type { Client } from 'pg'
import type { GroupOffset } from '#runtime/kafka/set-group-offsets.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { deadLetterTopic, topics, type TopicDefinition } from '#schemas/topics.ts'
import { readPositions } from './read-positions.ts'

/** Where one group goes on reading. */
export interface GroupRewind {
  groupId: string
  /** Its members now; it cannot be moved while it has any. */
  members: number
  offsets: GroupOffset[]
  /** Records that are read once more. */
  again: bigint
  /** Records that the tables do not hold and Kafka has not any more. */
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
  /** Calls from then on too, although the tables say that they have more. */
  callsSinceMs?: number | undefined
}

const callTopics = [topics.requestLogged, topics.requestEphemeral]
const deadLetterTopics = Object.values(topics)
  .filter((topic: TopicDefinition) => topic.deadLetters)
  .map(({ name }) => deadLetterTopic(name))

/**
 * Where the sinks' groups have to go on so that a restored database gets everything that it misses: those of calls where the database itself says that it
 * stands (`sink_positions`) or at `callsSinceMs`, the others at `sinceMs`. None is moved forward, and what the tables hold already is recognised when it comes again.
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
        return timed === undefined ? position : least(position, timed(partition, bounds))
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

/** Says of a topic where each of its partitions begins. */
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
      // A group that has read nothing of a partition begins at its beginning anyway.
      if (end === undefined || offset === '-1') continue
      const bounds = { low: BigInt(end.low), high: BigInt(end.high), committed: BigInt(offset) }
      const wanted = least(start(partition, bounds), bounds.committed)
      const next = greatest(wanted, bounds.low)
      plan.offsets.push({ topic, partition, offset: next })
      plan.again += greatest(bounds.committed - next, 0n)
      plan.gone += next - wanted
    }
  }
  return plan
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

function greatest(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
