import type { RecentRecords } from './recent-records.ts'
import type { Segment } from './segment.ts'

export interface SpoolDepth {
  records: number
  bytes: number
  /** When the oldest record that is not sent was written, about; undefined when all are sent. */
  oldestMs: number | undefined
}

export function depthOf(segments: readonly Segment[], recent: RecentRecords): SpoolDepth {
  const depth: SpoolDepth = { records: 0, bytes: 0, oldestMs: undefined }
  for (const segment of segments) {
    depth.records += segment.unsent
    depth.bytes += segment.size
    if (segment.unsent > 0) depth.oldestMs ??= recent.oldestOf(segment) ?? segment.begunMs
  }
  return depth
}
