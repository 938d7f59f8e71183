import type { KeyObject } from 'node:crypto'
import type { RecentRecords } from './recent-records.ts'
import { countRecords, isEphemeralPath, readSegment, type Segment } from './segment.ts'

/** The next records to send, all of one segment, oldest first. */
export interface SpoolBatch {
  records: readonly Buffer[]
  segment: Segment
  /** The project has zero content retention. */
  isEphemeral: boolean
  /** Number of records in the frames; more than `records` when some cannot be decrypted. */
  count: number
  end: number
}

/** The first frame is always taken. */
interface BatchLimits {
  records: number
  bytes: number
}

/**
 * Reads what is next to be sent of `segment`, from memory if present; undefined when no whole frame follows.
 */
export async function readBatch(
  segment: Segment,
  recent: RecentRecords,
  limits: BatchLimits,
  key: KeyObject | undefined,
): Promise<SpoolBatch | undefined> {
  const offset = recent.startOf(segment) ?? segment.size
  const found =
    recent.from(segment, segment.sentOffset) ?? (await readSegment(segment, { ...limits, offset }, key))
  let count = 0
  let byteLength = 0
  const taken = []
  for (const frame of found) {
    count += frame.records.length
    byteLength += frame.end - frame.start
    if (taken.length > 0 && (count > limits.records || byteLength > limits.bytes)) break
    taken.push(frame)
  }
  const last = taken.at(-1)
  if (last === undefined) return undefined
  const records = taken.flatMap((frame) => frame.records.filter((record) => record !== null))
  return {
    records,
    segment,
    isEphemeral: isEphemeralPath(segment.path),
    count: countRecords(taken),
    end: last.end,
  }
}
