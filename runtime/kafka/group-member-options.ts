import type { EachBatchPayload, Kafka } from 'kafkajs'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Assigned, GroupSettings } from './assignment.ts'
import type { ConsumerMetrics } from './consumer-metrics.ts'

export interface GroupMemberOptions {
  kafka: Kafka
  /** TOPIC_PREFIX included, as in the topics. */
  groupId: string
  topics: readonly string[]
  settings: GroupSettings
  partitionsConcurrently: number
  log: Log
  metrics: ConsumerMetrics
  clock?: Clock | undefined
  /** Partitions dealt to this member, before any of their records. */
  onAssigned(assigned: readonly Assigned[]): void
  /** A batch that begins where it should. To move the fetch position, call `advance`. What it throws must be a rebalance error. */
  onBatch(payload: EachBatchPayload, assigned: Assigned): Promise<void> | void
  /** The group is about to deal anew: the last moment to commit. */
  onRebalancing?(): void
  /** The group has dealt anew: what is not current any more is lost. Called behind `onAssigned`. */
  onPartitionsAssigned?(): void
  /** Why it has not reached the cluster yet; undefined once it has, or has stopped. */
  onWaiting(reason: string | undefined): void
  /** The member cannot go on; the consumer winds up and calls `leave`. */
  onFailed(): void
}
