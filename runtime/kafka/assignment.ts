import type { GroupConfig } from '../config.ts'
import { writeMark, type CrashMark, type Suspects } from './crash-marks.ts'

/** How a member of a consumer group behaves. Times in milliseconds. */
export interface GroupSettings {
  /**
   * How long a member that died keeps its partitions: the pause that a `kill -9` costs. 10 s by default: heartbeats come every
   * 3 s, whatever the handlers do, as long as nothing blocks the event loop.
   */
  sessionTimeoutMs: number
  /** How long a rebalance waits for members to finish what they work on. */
  rebalanceTimeoutMs: number
  heartbeatIntervalMs: number
  /** A fetch with nothing to bring waits this long; so does kafkajs when all partitions are paused. */
  maxWaitMs: number
  /** What one fetch brings of one partition, as stored (compressed); a larger record comes alone. */
  maxBytesPerPartition: number
}

export const defaultGroupSettings: GroupSettings = {
  sessionTimeoutMs: 10_000,
  rebalanceTimeoutMs: 60_000,
  heartbeatIntervalMs: 3_000,
  maxWaitMs: 500,
  maxBytesPerPartition: 2 * 1024 * 1024,
}

/** What an operator sets. Three heartbeats in a session, and a tenth of it to spare. */
export function groupSettingsOf({ KAFKA_SESSION_TIMEOUT_MS: sessionTimeoutMs }: GroupConfig) {
  return { sessionTimeoutMs, heartbeatIntervalMs: Math.ceil(sessionTimeoutMs * 0.3) }
}

/** A partition dealt to this member, until the next rebalance deals anew. */
export interface Assigned {
  readonly topic: string
  readonly partition: number
  readonly start: bigint
  readonly suspects: Suspects | null
  /** The mark at the starting place as it was found, whoever wrote it. */
  readonly found: CrashMark | null
  /** What this member signs its marks with. */
  readonly writer: string
  /** The offset that the next batch should begin with. */
  next: bigint
  /** The place that is being read a second time, because what came first did not fit. */
  readAgainAt: bigint | null
}

export interface CommitPosition {
  assigned: Assigned
  /** The next offset to work on. */
  offset: bigint
  /** null: clean, nothing is under way. */
  mark: CrashMark | null
}

/** Names a partition in maps and logs. */
export function partitionKey({ topic, partition }: { topic: string; partition: number }): string {
  return `${topic}/${partition}`
}

/** Positions as kafkajs commits them. */
export function toTopicOffsets(positions: readonly CommitPosition[]) {
  const byTopic = Map.groupBy(positions, ({ assigned }) => assigned.topic)
  return [...byTopic].map(([topic, ofTopic]) => ({
    topic,
    partitions: ofTopic.map(({ assigned, offset, mark }) => ({
      partition: assigned.partition,
      offset: offset.toString(),
      metadata: mark === null ? '' : writeMark(mark),
    })),
  }))
}
