import { randomBytes } from 'node:crypto'
import { open, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { ageAt } from '#runtime/clock.ts'
import { headerBytes, segmentHeader, type Frame } from './segment-format.ts'
import { segmentName, type Segment } from './segment.ts'

export interface SegmentWriter {
  /** The segment being written; undefined before the first write. */
  active(): Segment | undefined
  /**
   * Appends frames with one `write` and returns their segment; `size` changes only once all are in the file.
   * Calls `onBegin` for a new segment.
   */
  write(frames: readonly Frame[], onBegin: (segment: Segment) => void): Promise<Segment>
  /** The next write starts a new segment. */
  finish(): Promise<void>
}

interface SegmentWriterOptions {
  folder: string
  /** Approximate. */
  maxBytes: () => number
  /** For zero-retention projects. Their segments are replaced every few minutes. */
  isEphemeral: boolean
  now: () => number
}

const ephemeralSpanMs = 5 * 60_000

/**
 * Whether an ephemeral segment is full: its bodies are erased together, none long before its hour is over.
 */
export function isSpent({ begunMs }: Segment, nowMs: number): boolean {
  return ageAt(nowMs, begunMs) > ephemeralSpanMs
}

/** Writes segments into a folder. One write at a time; the caller waits for each. */
export function createSegmentWriter({
  folder,
  maxBytes,
  isEphemeral,
  now,
}: SegmentWriterOptions): SegmentWriter {
  let active: { segment: Segment; file: FileHandle } | undefined

  const begin = async (): Promise<{ segment: Segment; file: FileHandle }> => {
    const begunMs = now()
    const path = join(folder, segmentName(begunMs, randomBytes(4).toString('hex'), isEphemeral))
    const file = await open(path, 'ax', 0o600)
    const segment = { path, size: headerBytes, sentOffset: headerBytes, unsent: 0, begunMs, isForeign: false }
    active = { segment, file }
    return active
  }
  const isFull = (segment: Segment, moreBytes: number) =>
    segment.size + moreBytes > maxBytes() || (isEphemeral && isSpent(segment, now()))
  const finish = async () => {
    const finished = active
    active = undefined
    await finished?.file.close()
  }

  return {
    active: () => active?.segment,
    finish,
    async write(frames, onBegin) {
      const byteLength = frames.reduce((sum, frame) => sum + frame.byteLength, 0)
      if (active !== undefined && isFull(active.segment, byteLength)) await finish()
      const isNew = active === undefined
      const { segment, file } = active ?? (await begin())
      try {
        const parts = frames.flatMap((frame) => frame.parts)
        await writeAll(file, isNew ? [segmentHeader(), ...parts] : parts)
      } catch (error) {
        // Bytes after `size` are incomplete and lost: nothing may follow them.
        try {
          await (isNew ? unlink(segment.path) : file.truncate(segment.size))
        } finally {
          await finish()
        }
        throw error
      }
      if (isNew) onBegin(segment)
      segment.size += byteLength
      return segment
    },
  }
}

/** `writev` may write only a part, for instance when the disk fills up. */
async function writeAll(file: FileHandle, buffers: readonly Buffer[]): Promise<void> {
  const total = buffers.reduce((sum, buffer) => sum + buffer.length, 0)
  const { bytesWritten } = await file.writev([...buffers])
  if (bytesWritten === total) return
  const rest = Buffer.concat(buffers).subarray(bytesWritten)
  for (let at = 0; at < rest.length;) at += (await file.write(rest, at)).bytesWritten
}
