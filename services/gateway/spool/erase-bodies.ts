import type { KeyObject } from 'node:crypto'
import { readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { contentDays } from '#schemas/content-retention.ts'
import { decodeFrame, encodeFrames, headerBytes, segmentHeader } from './segment-format.ts'
import { erasedPath, removeSegment, unfinishedSuffix, type Segment } from './segment.ts'

/** Content of projects that keep none may wait on disk for an hour. Looked at every 10 s, and between two tries to send. */
export const eraseAfterMs = 59 * 60_000
const dayMs = 86_400_000
/** By so much the clock of another host beside this one may be ahead. */
const maxAheadMs = 60_000

/** Whether what such a project has on disk since `begunMs` is due to go; also where nobody knows since when, because the clock was set back. */
export function areBodiesDue(begunMs: number, nowMs: number): boolean {
  const ageMs = nowMs - begunMs
  return !(ageMs >= -maxAheadMs && ageMs < eraseAfterMs)
}

/** Whether what lies on disk since `sinceMs` has been there for as long as content of any project is kept. */
export function isContentDue(sinceMs: number, nowMs: number): boolean {
  return nowMs - sinceMs >= contentDays * dayMs
}

/** A record (JSON bytes) without its bodies; undefined where it cannot be read. */
export type StripBodies = (record: Buffer) => Buffer | undefined

/**
 * Writes what is left to send of an ephemeral segment without its bodies, in its place. Killed in the middle it leaves the old
 * segment, or both: adopt-folders.ts drops the old one then. Gives the number of records that could not be opened or read; they are gone.
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

/** The same for a file of one record, beside the spool. False: it could not be opened or read, and is gone. */
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
