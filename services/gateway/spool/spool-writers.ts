import { createSegmentWriter, isSpent, type SegmentWriter } from './segment-writer.ts'
import { isEphemeralPath, type Segment } from './segment.ts'

/** The two active segments of a folder: one for ordinary records, one for zero-retention projects. */
export interface SpoolWriters {
  of(isEphemeral: boolean): SegmentWriter
  /** Whether it is an active segment. */
  isActive(segment: Segment): boolean
  /** The next record starts a new segment. Must not be called during a write. */
  finish(segment: Segment): Promise<void>
  finishAll(): Promise<void>
  /** Finishes the ephemeral segment when it is old enough. Must not be called during a write. */
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
