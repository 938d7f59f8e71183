import { randomBytes } from 'node:crypto'
import { open, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { ageAt } from '#runtime/clock.ts'
import { headerBytes, segmentHeader, type Frame } from './segment-format.ts'
import { segmentName, type Segment } from './segment.ts'

export interface SegmentWriter {
  /** The segment that is written to, undefined until something is. */
  active(): Segment | undefined
  /**
   * Appends frames with one `write` and gives the segment that has them; `size` moves only when all of them are in the file.
   * `onBegin` is told of a new segment that has them.
   */
  write(frames: readonly Frame[], onBegin: (segment: Segment) => void): Promise<Segment>
  /** The next write begins a new segment. */
  finish(): Promise<void>
}

interface SegmentWriterOptions {
  folder: string
  /** Bytes of a segment, about. */
  maxBytes: () => number
  /** Of projects that keep no content. A segment of theirs is begun anew every few minutes. */
  isEphemeral: boolean
  now: () => number
}

const ephemeralSpanMs = 5 * 60_000

/** Whether one of projects that keep no content takes no more: its bodies are erased together, none of them much before its hour is over. */
export function isSpent({ begunMs }: Segment, nowMs: number): boolean {
  return ageAt(nowMs, begunMs) > ephemeralSpanMs
}

/** Writes segments into a folder. One write at a time: the caller waits for each. */
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
        // What the file holds behind `size` is not whole: nothing may follow it, and it is lost, also where some frames are.
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

/** `writev` may take only a part, a disk that fills up for instance. */
async function writeAll(file: FileHandle, buffers: readonly Buffer[]): Promise<void> {
  const total = buffers.reduce((sum, buffer) => sum + buffer.length, 0)
  const { bytesWritten } = await file.writev([...buffers])
  if (bytesWritten === total) return
  const rest = Buffer.concat(buffers).subarray(bytesWritten)
  for (let at = 0; at < rest.length;) at += (await file.write(rest, at)).bytesWritten
}
