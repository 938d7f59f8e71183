import type { PartitionMetadata } from 'kafkajs'
import { CannotStart } from './embedded/embedded-part.ts'

/** With three, one broker can be away and a write is still kept twice. */
const maxCopies = 3

/** How many copies a topic gets on so many brokers. */
export function copiesWith(brokers: number): number {
  return Math.min(maxCopies, brokers)
}

/** Of the partition that has fewest. A copy whose broker is away is one. */
export function fewestCopies(partitions: readonly Pick<PartitionMetadata, 'replicas'>[]): number {
  return Math.min(...partitions.map(({ replicas }) => replicas.length))
}

/**
 * `min.insync.replicas` of a topic with so many copies: all but one. By its own copies and never by the brokers that answer: one that is
 * away would lower it, and what is then acknowledged by a single broker is lost with that one; and where brokers came later than the topic,
 * more would have to be in sync than there are, and the topic would take no writes.
 */
export function inSyncOf(copies: number): number {
  return Math.max(1, copiesWith(copies) - 1)
}

/** Throws CannotStart for a topic that would be made while a broker is away: it would stay with fewer copies than the others have. */
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
