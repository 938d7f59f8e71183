import type { Admin } from 'kafkajs'
import { readMark, type Suspects } from './crash-marks.ts'

/** A group's committed offset of a partition, and the ends of its log. */
export interface PartitionOffsets {
  topic: string
  partition: number
  /** null: the group never committed here. */
  committed: bigint | null
  metadata: string | null
  /** The earliest remaining offset. */
  low: bigint
  /** The offset behind the last record. */
  high: bigint
}

export interface StartingPlace {
  start: bigint
  suspects: Suspects | null
  /** Offsets that were deleted before they were read. */
  missing: bigint
}

/**
 * Where reading begins, and what can no longer be read. A new group begins at the earliest offset and misses
 * nothing.
 */
export function startingPlace({ committed, metadata, low, high }: PartitionOffsets): StartingPlace {
  if (committed === null) return { start: low, suspects: null, missing: 0n }
  // The log ends before the committed offset: the topic was recreated, or the cluster lost its end.
  if (committed > high) return { start: low, suspects: null, missing: committed - high }
  const mark = readMark(metadata)
  const suspects = mark === null ? null : { from: committed, mark }
  if (committed < low) return { start: low, suspects, missing: low - committed }
  return { start: committed, suspects, missing: 0n }
}

export interface UnexpectedBatch {
  expected: bigint
  first: bigint
  low: bigint
  high: bigint
  /** The same offset was already read once more. */
  readAgain: boolean
}

/**
 * What to do with a batch that does not begin where the last one ended. Either the records between are gone
 * (`missing`), or the batch is read again, once. The same result then means a gap in the log (transaction
 * markers, compaction), and nothing is missing.
 */
export function judgeBatch(
  batch: UnexpectedBatch,
): { kind: 'read_again' } | { kind: 'take'; missing: bigint } {
  const { expected, first, low, high, readAgain } = batch
  if (high < expected) return { kind: 'take', missing: expected - high }
  if (low > expected) return { kind: 'take', missing: (low < first ? low : first) - expected }
  return readAgain ? { kind: 'take', missing: 0n } : { kind: 'read_again' }
}

/** The offsets of every partition of an assignment, which maps topic to partitions. */
export async function readOffsets(
  admin: Admin,
  groupId: string,
  assignment: Readonly<Record<string, readonly number[]>>,
): Promise<PartitionOffsets[]> {
  const topics = Object.keys(assignment).filter((topic) => assignment[topic]?.length !== 0)
  if (topics.length === 0) return []
  const [committed, ...ends] = await Promise.all([
    admin.fetchOffsets({ groupId, topics }),
    ...topics.map((topic) => admin.fetchTopicOffsets(topic)),
  ])
  return topics.flatMap((topic, index) =>
    (assignment[topic] ?? []).map((partition) => {
      const end = ends[index]?.find((entry) => entry.partition === partition)
      const commit = committed
        .find((entry) => entry.topic === topic)
        ?.partitions.find((entry) => entry.partition === partition)
      const offset = BigInt(commit?.offset ?? -1)
      return {
        topic,
        partition,
        committed: offset < 0n ? null : offset,
        metadata: commit?.metadata ?? null,
        low: BigInt(end?.low ?? 0),
        high: BigInt(end?.high ?? 0),
      }
    }),
  )
}
