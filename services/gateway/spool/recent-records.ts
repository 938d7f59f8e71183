import type { Segment, SegmentFrame } from './segment.ts'

/** Records written recently. */
interface RecentFrame extends SegmentFrame {
  segment: Segment
  writtenMs: number
}

export interface RecentRecords {
  add(frame: RecentFrame): void
  /** The frames of `segment` from `offset` on, if the first is still in memory. */
  from(segment: Segment, offset: number): readonly RecentFrame[] | undefined
  /** Offset of the first record of `segment` in memory. */
  startOf(segment: Segment): number | undefined
  /** When the oldest record of `segment` in memory was written. */
  oldestOf(segment: Segment): number | undefined
  /** Drops those of `segment` before `end`. */
  forget(segment: Segment, end: number): void
}

/** Caches the last written records, up to `maxBytes`; the oldest are evicted. */
export function createRecentRecords(maxBytes: number): RecentRecords {
  const bySegment = new Map<Segment, RecentFrame[]>()
  let byteLength = 0

  const dropFirst = (segment: Segment, frames: RecentFrame[], count: number) => {
    for (const { start, end } of frames.splice(0, count)) byteLength -= end - start
    if (frames.length === 0) bySegment.delete(segment)
  }
  const dropOldest = () => {
    for (const [segment, frames] of bySegment) {
      dropFirst(segment, frames, Math.max(1, frames.length >> 2))
      return
    }
  }

  return {
    add(frame) {
      const frames = bySegment.get(frame.segment)
      if (frames === undefined) bySegment.set(frame.segment, [frame])
      else frames.push(frame)
      byteLength += frame.end - frame.start
      while (byteLength > maxBytes) dropOldest()
    },
    from(segment, offset) {
      const frames = bySegment.get(segment)
      return frames?.[0]?.start === offset ? frames : undefined
    },
    startOf: (segment) => bySegment.get(segment)?.[0]?.start,
    oldestOf: (segment) => bySegment.get(segment)?.[0]?.writtenMs,
    forget(segment, end) {
      const frames = bySegment.get(segment)
      if (frames === undefined) return
      const kept = frames.findIndex((frame) => frame.end > end)
      dropFirst(segment, frames, kept === -1 ? frames.length : kept)
    },
  }
}
