import type { PartitionMetadata } from 'kafkajs'
import { CannotStart } from './embedded/embedded-part.ts'

/** With three, one broker can be down and a write still has two replicas. */
const maxCopies = 3

/** Number of replicas of a new topic on this many brokers. */
export function copiesWith(brokers: number): number {
  return Math.min(maxCopies, brokers)
}

/** Of the partition with the fewest. A replica on a broker that is down counts. */
export function fewestCopies(partitions: readonly Pick<PartitionMetadata, 'replicas'>[]): number {
  return Math.min(...partitions.map(({ replicas }) => replicas.length))
}

/**
 * `min.insync.replicas` for this many replicas: all but one. Depends on the topic's replicas, never on the
 * brokers that answer. A broker that is down would lower it, and a write acknowledged by one broker would be
 * lost with it. Brokers added after the topic would raise it beyond its replicas, and it would refuse all
 * writes.
 */
export function inSyncOf(copies: number): number {
  return Math.max(1, copiesWith(copies) - 1)
}

/**
 * Throws CannotStart for a topic that would be created while a broker is down: it would keep fewer replicas
 * than the others.
 */
export function refuseFewerCopies(
  missing: string,
  replicationFactor: number,
  ofOthers: readonly number[],
): void {
  const copies = copiesWith(Math.max(0, ...ofOthers))
  if (replicationFactor >= copies) return
  throw new CannotStart(
    `${missing} is missing; with ${replicationFactor} brokers it would be kept ${replicationFactor} times, others are kept ${copies} times: bring back the brokers that are away, then run this again.`,
  )
}
