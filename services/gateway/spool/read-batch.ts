import type { KeyObject } from 'node:crypto'
import type { RecentRecords } from './recent-records.ts'
import { isEphemeralPath, readSegment, type Segment } from './segment.ts'

/** Records that are next to be sent, all of one segment, oldest first. */
export interface SpoolBatch {
  records: readonly Buffer[]
  segment: Segment
  /** Of projects that keep no content. */
  isEphemeral: boolean
  /** Records that the batch stands for; more than `records` when some cannot be opened. */
  count: number
  end: number
}

interface BatchLimits {
  records: number
  /** About; one record is taken however long it is. */
  bytes: number
}

/** What is next to be sent of `segment`, from memory when it is there; undefined when nothing whole follows. */
export async function readBatch(
  segment: Segment,
  recent: RecentRecords,
  limits: BatchLimits,
  key: KeyObject | undefined,
): Promise<SpoolBatch | undefined> {
  const offset = recent.startOf(segment) ?? segment.size
  const found =
    recent.from(segment, segment.sentOffset) ?? (await readSegment(segment, { ...limits, offset }, key))
  let byteLength = 0
  const taken = []
  for (const entry of found) {
    byteLength += entry.record?.length ?? 0
    if (taken.length === limits.records || (taken.length > 0 && byteLength > limits.bytes)) break
    taken.push(entry)
  }
  const last = taken.at(-1)
  if (last === undefined) return undefined
  const records = taken.flatMap(({ record }) => (record === null ? [] : [record]))
  return {
    records,
    segment,
    isEphemeral: isEphemeralPath(segment.path),
    count: taken.length,
    end: last.end,
  }
}
