import type { EachBatchPayload, Kafka } from 'kafkajs'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Assigned, GroupSettings } from './assignment.ts'
import type { ConsumerMetrics } from './consumer-metrics.ts'

export interface GroupMemberOptions {
  kafka: Kafka
  /** With TOPIC_PREFIX, as in the topics. */
  groupId: string
  topics: readonly string[]
  settings: GroupSettings
  partitionsConcurrently: number
  log: Log
  metrics: ConsumerMetrics
  clock?: Clock | undefined
  /** Partitions assigned to this member, before any of their records. */
  onAssigned(assigned: readonly Assigned[]): void
  /**
   * A batch that begins at the expected offset. `advance` moves the fetch position. It may throw only a
   * rebalance error.
   */
  onBatch(payload: EachBatchPayload, assigned: Assigned): Promise<void> | void
  /** A rebalance is about to begin: the last moment to commit. */
  onRebalancing?(): void
  /** The rebalance is over, after `onAssigned`: partitions that are no longer current are lost. */
  onPartitionsAssigned?(): void
  /** Why the cluster is not reached yet; undefined once it is, or after a stop. */
  onWaiting(reason: string | undefined): void
  /** The member cannot go on; the consumer drains and calls `leave`. */
  onFailed(): void
}
