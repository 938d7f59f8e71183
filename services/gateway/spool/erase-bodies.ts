import type { KeyObject } from 'node:crypto'
import { readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { contentDays } from '#schemas/content-retention.ts'
import { decodeFrame, encodeFrames, headerBytes, segmentHeader } from './segment-format.ts'
import { erasedPath, removeSegment, unfinishedSuffix, type Segment } from './segment.ts'

/**
 * Content of zero-retention projects may stay on disk for an hour. Checked every 10 s and between attempts.
 */
export const eraseAfterMs = 59 * 60_000
const dayMs = 86_400_000
/** Maximum lead of a neighbouring host's clock. */
const maxAheadMs = 60_000

/**
 * Whether the bodies of a zero-retention project, on disk since `begunMs`, are due for erasure. True too if a
 * clock that was set back makes the age unknown.
 */
export function areBodiesDue(begunMs: number, nowMs: number): boolean {
  const ageMs = nowMs - begunMs
  return !(ageMs >= -maxAheadMs && ageMs < eraseAfterMs)
}

/** Whether content on disk since `sinceMs` has reached the maximum retention. */
export function isContentDue(sinceMs: number, nowMs: number): boolean {
  return nowMs - sinceMs >= contentDays * dayMs
}

/** Strips the bodies from a record (JSON bytes); undefined if it cannot be read. */
export type StripBodies = (record: Buffer) => Buffer | undefined

/**
 * Rewrites the unsent part of an ephemeral segment without bodies; returns the number of unreadable records,
 * which are dropped. A crash leaves the old segment, or both; adopt-folders.ts then removes the old one.
 */
export async function eraseSegment(
  segment: Segment,
  key: KeyObject | undefined,
  strip: StripBodies,
): Promise<number> {
  const bytes = await readFile(segment.path)
  const left: Buffer[] = []
  let unreadable = 0
  for (let at = segment.sentOffset; at < segment.size;) {
    const frame = decodeFrame(bytes, at, key)
    if (frame.kind !== 'frame') break
    for (const record of frame.records) {
      const stripped = record === null ? undefined : strip(record)
      if (stripped === undefined) unreadable++
      else left.push(stripped)
    }
    at = frame.end
  }
  const old = { ...segment }
  const erased = Buffer.concat([segmentHeader(), encodeFrames(left, key)])
  await replaceFile(erasedPath(old.path), erased)
  await removeSegment(old)
  segment.path = erasedPath(old.path)
  segment.size = erased.length
  segment.sentOffset = headerBytes
  segment.unsent = left.length
  return unreadable
}

async function replaceFile(path: string, bytes: Buffer): Promise<void> {
  const hidden = path + unfinishedSuffix
  await writeFile(hidden, bytes, { mode: 0o600 })
  await rename(hidden, path)
}

/** The same for a file of one record. False: it could not be read, and is deleted. */
export async function eraseFile(
  path: string,
  key: KeyObject | undefined,
  strip: StripBodies,
): Promise<boolean> {
  const frame = decodeFrame(await readFile(path), headerBytes, key)
  const [record = null] = frame.kind === 'frame' ? frame.records : []
  const stripped = record === null ? undefined : strip(record)
  if (stripped !== undefined) {
    const erased = encodeFrames([stripped], key)
    await replaceFile(erasedPath(path), Buffer.concat([segmentHeader(), erased]))
  }
  await unlink(path)
  return stripped !== undefined
}
