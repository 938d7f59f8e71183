import { createSegmentWriter, isSpent, type SegmentWriter } from './segment-writer.ts'
import { isEphemeralPath, type Segment } from './segment.ts'

/** The two segments that a folder is written to at a time: records that are kept, and those of projects that keep no content. */
export interface SpoolWriters {
  of(isEphemeral: boolean): SegmentWriter
  /** Whether it is being written to. */
  isActive(segment: Segment): boolean
  /** The next record begins a new one. Not while a write is under way. */
  finish(segment: Segment): Promise<void>
  finishAll(): Promise<void>
  /** Finishes the ephemeral segment when it has been written to for long enough. Not while a write is under way. */
  finishAged(nowMs: number): Promise<void>
}

export function createSpoolWriters(folder: string, maxBytes: () => number, now: () => number): SpoolWriters {
  const kept = createSegmentWriter({ folder, maxBytes, isEphemeral: false, now })
  const ephemeral = createSegmentWriter({ folder, maxBytes, isEphemeral: true, now })
  const writerOf = ({ path }: Segment) => (isEphemeralPath(path) ? ephemeral : kept)
  return {
    of: (isEphemeral) => (isEphemeral ? ephemeral : kept),
    isActive: (segment) => writerOf(segment).active() === segment,
    finish: (segment) => writerOf(segment).finish(),
    async finishAll() {
      await kept.finish()
      await ephemeral.finish()
    },
    async finishAged(nowMs) {
      const active = ephemeral.active()
      if (active !== undefined && isSpent(active, nowMs)) await ephemeral.finish()
    },
  }
}
