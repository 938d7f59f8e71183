import { partitionOfHash } from './partition-for-key.ts'
import type { QueuedRecord } from './queued-record.ts'

/** Records of one topic-partition in order, never empty. */
export interface Group {
  topic: string
  partition: number
  records: QueuedRecord[]
  bytes: number
}

/**
 * Record batches stay below Kafka's default limit of 1 MiB. Only a record that is larger itself can meet its
 * topic's limit, and it goes alone.
 */
const maxGroupBytes = 900_000

export interface BatchLimits {
  maxBatchRecords: number
  maxBatchBytes: number
}

/**
 * Takes from the front of the queue what one request holds, grouped by topic-partition. `partitions` has the
 * partition count of each topic. Stops at the first record that does not fit or whose topic is unknown, to
 * keep the order.
 */
export function gatherBatch(
  queue: readonly QueuedRecord[],
  partitions: ReadonlyMap<string, number>,
  limits: BatchLimits,
): { groups: Group[]; taken: number } {
  const groups = new Map<string, Group>()
  let bytes = 0
  let taken = 0
  for (const record of queue) {
    if (taken >= limits.maxBatchRecords || (taken > 0 && bytes + record.bytes > limits.maxBatchBytes)) break
    const count = partitions.get(record.topic)
    if (count === undefined) break
    const partition = partitionOfHash(record.keyHash, count)
    const id = `${record.topic}/${partition}`
    const group = groups.get(id)
    if (group === undefined) {
      groups.set(id, { topic: record.topic, partition, records: [record], bytes: record.bytes })
    } else {
      if (group.bytes + record.bytes > maxGroupBytes) break
      group.records.push(record)
      group.bytes += record.bytes
    }
    bytes += record.bytes
    taken++
  }
  return { groups: [...groups.values()], taken }
}

/** Smaller batches of the same records in the same order; undefined for a single record. */
export function splitBatch(groups: readonly Group[]): Group[][] | undefined {
  if (groups.length > 1) return groups.map((group) => [group])
  const [group] = groups
  if (group === undefined || group.records.length < 2) return undefined
  const middle = group.records.length >> 1
  return [group.records.slice(0, middle), group.records.slice(middle)].map((records) => [
    { ...group, records, bytes: records.reduce((sum, { bytes }) => sum + bytes, 0) },
  ])
}
