import type { Segment, SegmentRecord } from './segment.ts'

/** A record that was written a moment ago. */
export interface RecentRecord extends SegmentRecord {
  record: Buffer
  segment: Segment
  start: number
  writtenMs: number
}

export interface RecentRecords {
  add(entry: RecentRecord): void
  /** The records of `segment` from `offset` on, when the first of them is still here. */
  from(segment: Segment, offset: number): readonly RecentRecord[] | undefined
  /** Where the records of `segment` that are here begin. */
  startOf(segment: Segment): number | undefined
  /** When the oldest of `segment` that is here was written. */
  oldestOf(segment: Segment): number | undefined
  /** Drops those of `segment` before `end`. */
  forget(segment: Segment, end: number): void
}

/** The last records that were written, up to `maxBytes`: the oldest make room, they are on disk. */
export function createRecentRecords(maxBytes: number): RecentRecords {
  const bySegment = new Map<Segment, RecentRecord[]>()
  let byteLength = 0

  const dropFirst = (segment: Segment, entries: RecentRecord[], count: number) => {
    for (const { record } of entries.splice(0, count)) byteLength -= record.length
    if (entries.length === 0) bySegment.delete(segment)
  }
  const dropOldest = () => {
    for (const [segment, entries] of bySegment) {
      dropFirst(segment, entries, Math.max(1, entries.length >> 2))
      return
    }
  }

  return {
    add(entry) {
      const entries = bySegment.get(entry.segment)
      if (entries === undefined) bySegment.set(entry.segment, [entry])
      else entries.push(entry)
      byteLength += entry.record.length
      while (byteLength > maxBytes) dropOldest()
    },
    from(segment, offset) {
      const entries = bySegment.get(segment)
      return entries?.[0]?.start === offset ? entries : undefined
    },
    startOf: (segment) => bySegment.get(segment)?.[0]?.start,
    oldestOf: (segment) => bySegment.get(segment)?.[0]?.writtenMs,
    forget(segment, end) {
      const entries = bySegment.get(segment)
      if (entries === undefined) return
      const kept = entries.findIndex((entry) => entry.end > end)
      dropFirst(segment, entries, kept === -1 ? entries.length : kept)
    },
  }
}
