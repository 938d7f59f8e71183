import type { RecentRecords } from './recent-records.ts'
import type { Segment } from './segment.ts'

export interface SpoolDepth {
  records: number
  /** Of these, sealed under a key that is not here. */
  foreignRecords: number
  bytes: number
  /** Of all that lies in `set-aside/`, by whichever gateway: beside the spool's. */
  asideBytes: number
  /** When the oldest record that is not sent was written, about; undefined when all are sent. */
  oldestMs: number | undefined
}

export function depthOf(segments: readonly Segment[], recent: RecentRecords): Omit<SpoolDepth, 'asideBytes'> {
  const depth: Omit<SpoolDepth, 'asideBytes'> = {
    records: 0,
    foreignRecords: 0,
    bytes: 0,
    oldestMs: undefined,
  }
  for (const segment of segments) {
    depth.records += segment.unsent
    if (segment.isForeign) depth.foreignRecords += segment.unsent
    depth.bytes += segment.size
    if (segment.unsent > 0) depth.oldestMs ??= recent.oldestOf(segment) ?? segment.begunMs
  }
  return depth
}

/** What to say of records that nobody here can open. */
export function foreignProblem({ foreignRecords }: SpoolDepth): string | null {
  if (foreignRecords === 0) return null
  return `${foreignRecords} records are sealed under another SPOOL_KEY: they wait for a gateway that has it`
}
