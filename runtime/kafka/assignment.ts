import type { GroupConfig } from '../config.ts'
import { writeMark, type CrashMark, type Suspects } from './crash-marks.ts'

/** How a member of a consumer group behaves. Times in milliseconds. */
export interface GroupSettings {
  /**
   * How long a dead member keeps its partitions, which is the pause that a `kill -9` costs. 10 s by default:
   * heartbeats go every 3 s, whatever the handlers do, while nothing blocks the event loop.
   */
  sessionTimeoutMs: number
  /** How long a rebalance waits for members to finish their batches. */
  rebalanceTimeoutMs: number
  heartbeatIntervalMs: number
  /** How long a fetch with nothing to return waits; also kafkajs's poll while all partitions are paused. */
  maxWaitMs: number
  /** Bytes that one fetch takes from one partition, compressed. A larger record comes alone. */
  maxBytesPerPartition: number
}

export const defaultGroupSettings: GroupSettings = {
  sessionTimeoutMs: 10_000,
  rebalanceTimeoutMs: 60_000,
  heartbeatIntervalMs: 3_000,
  maxWaitMs: 500,
  maxBytesPerPartition: 2 * 1024 * 1024,
}

/** The settings of an operator: three heartbeats per session, with a tenth of it to spare. */
export function groupSettingsOf({ KAFKA_SESSION_TIMEOUT_MS: sessionTimeoutMs }: GroupConfig) {
  return { sessionTimeoutMs, heartbeatIntervalMs: Math.ceil(sessionTimeoutMs * 0.3) }
}

/** A partition assigned to this member, until the next rebalance. */
export interface Assigned {
  readonly topic: string
  readonly partition: number
  readonly start: bigint
  readonly suspects: Suspects | null
  /** The mark found at the start offset, no matter who wrote it. */
  readonly found: CrashMark | null
  /** The name with which this member signs its marks. */
  readonly writer: string
  /** The offset at which the next batch should begin. */
  next: bigint
  /** The offset that is read a second time because the first batch did not begin there. */
  readAgainAt: bigint | null
}

export interface CommitPosition {
  assigned: Assigned
  /** The next offset to work on. */
  offset: bigint
  /** null: clean, no work under way. */
  mark: CrashMark | null
}

/** A partition's name in maps and logs. */
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
