import type { KeyObject } from 'node:crypto'
import { open, readdir, readFile, rename, stat, unlink, writeFile, type FileHandle } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { decodeFrame, headerBytes, isReadableHeader, lengthOfFrame } from './segment-format.ts'
import { isMissing } from './spool-lock.ts'

/** A file of the spool and how far it has been sent. */
export interface Segment {
  path: string
  /** Bytes of complete frames, header included. */
  size: number
  /** Everything before this offset has been sent. */
  sentOffset: number
  /** Records after `sentOffset`. */
  unsent: number
  /** Creation time, Unix milliseconds. */
  begunMs: number
  /** Encrypted with a key that is not configured: waits for a gateway that has it. */
  isForeign: boolean
}

/** Records written and sent together. */
export interface SegmentFrame {
  /** Null: cannot be decrypted with the configured key. */
  records: readonly (Buffer | null)[]
  start: number
  /** Offset of the next frame. */
  end: number
}

const sentSuffix = '.sent'
/** A file gets its final name once it is complete. */
export const unfinishedSuffix = '.new'
export const segmentSuffix = '.segment'
/** For zero-retention projects: bodies are erased after an hour (erase-bodies.ts). */
const ephemeralSuffix = `.ephemeral${segmentSuffix}`

/** A name that sorts by time across processes. */
export function segmentName(nowMs: number, random: string, isEphemeral = false): string {
  return `${String(nowMs).padStart(15, '0')}-${random}${isEphemeral ? ephemeralSuffix : segmentSuffix}`
}

export function isEphemeralPath(path: string): boolean {
  return path.endsWith(ephemeralSuffix)
}

/** Path of an ephemeral segment after its bodies are erased. */
export function erasedPath(path: string): string {
  return path.slice(0, -ephemeralSuffix.length) + segmentSuffix
}

/** Creation time from the name; NaN if the name has none. */
export function begunMsOf(path: string): number {
  return Number.parseInt(basename(path), 10)
}

/** The part of the name after the time. */
export function idInName(path: string): string {
  return /-([^.]*)/.exec(basename(path))?.[1] ?? ''
}

export interface InspectedSegment {
  segment: Segment
  /** Why it cannot be read completely. A torn end is normal after a kill. */
  problem: 'another version' | 'damaged' | null
}

/** Inspects a segment that an earlier process left. */
export async function inspectSegment(path: string, key: KeyObject | undefined): Promise<InspectedSegment> {
  const bytes = await readFile(path)
  const begunMs = begunMsOf(path) || (await stat(path)).mtimeMs
  const empty = { path, size: bytes.length, sentOffset: bytes.length, unsent: 0, begunMs, isForeign: false }
  // The process was killed before it wrote the header.
  if (bytes.length < headerBytes) return { segment: empty, problem: null }
  if (!isReadableHeader(bytes)) return { segment: empty, problem: 'another version' }
  const { frames, end, isCorrupt } = readFrames(bytes, headerBytes, undefined, Infinity)
  const notedOffset = await readSentOffset(path)
  const unsentFrames = frames.filter((frame) => frame.end > notedOffset)
  const unsent = countRecords(unsentFrames)
  // A torn note has only the first digits and points into a frame, which is sent again from its start.
  const sentOffset = unsentFrames[0]?.start ?? end
  // One process wrote the segment, so one key encrypts it all.
  const isForeign = unsent > 0 && readFrames(bytes, headerBytes, key, 1).frames[0]?.records[0] === null
  const segment = { ...empty, size: end, sentOffset, unsent, isForeign }
  return { segment, problem: isCorrupt ? 'damaged' : null }
}

/** Whether this version can read the segment. */
export async function isReadable(path: string): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    return isReadableHeader(await readWindow(file, 0, headerBytes))
  } finally {
    await file.close()
  }
}

export interface ReadLimits {
  /** Read nothing after this offset. */
  offset: number
  /** Approximate limits: the first frame is always read. */
  records: number
  bytes: number
}

export function countRecords(frames: readonly SegmentFrame[]): number {
  return frames.reduce((sum, { records }) => sum + records.length, 0)
}

/** Frames from `segment.sentOffset` on. */
export async function readSegment(
  segment: Segment,
  limits: ReadLimits,
  key: KeyObject | undefined,
): Promise<SegmentFrame[]> {
  const from = segment.sentOffset
  const file = await open(segment.path, 'r')
  try {
    const window = await readWindow(file, from, Math.min(limits.bytes, limits.offset - from))
    const needed = lengthOfFrame(window)
    const isLong = needed > window.length && from + needed <= limits.offset
    const bytes = isLong ? await readWindow(file, from, needed) : window
    return readFrames(bytes, 0, key, limits.records).frames.map(({ records, start, end }) => ({
      records,
      start: from + start,
      end: from + end,
    }))
  } finally {
    await file.close()
  }
}

async function readWindow(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  const { bytesRead } = await file.read(bytes, 0, length, position)
  return bytes.subarray(0, bytesRead)
}

/**
 * Notes how far a segment has been sent. If the note is lost, records are sent twice and ingest drops them.
 */
export async function writeSentOffset(segment: Segment): Promise<void> {
  await writeFile(segment.path + sentSuffix, String(segment.sentOffset), { mode: 0o600 })
}

/** The note goes first, so that it is there when the segment is taken. */
export async function moveSegment(path: string, folder: string): Promise<void> {
  await moveNote(path, folder)
  await rename(path, join(folder, basename(path)))
}

/** Moves the note of the segment that is or was at `path`. */
export async function moveNote(path: string, folder: string): Promise<void> {
  await unlessGone(rename(path + sentSuffix, join(folder, basename(path) + sentSuffix)))
}

export async function removeSegment(segment: Segment): Promise<void> {
  await unlessGone(unlink(segment.path))
  await removeNote(segment.path)
}

export async function removeNote(path: string): Promise<void> {
  await unlessGone(unlink(path + sentSuffix))
}

/** Deletes leftovers in `folder`: notes without a segment, and unfinished files. */
export async function removeStrays(folder: string): Promise<void> {
  const names = new Set(await readdir(folder))
  const isStray = (name: string) =>
    name.endsWith(segmentSuffix + unfinishedSuffix) ||
    (name.endsWith(segmentSuffix + sentSuffix) && !names.has(name.slice(0, -sentSuffix.length)))
  await Promise.all([...names].filter(isStray).map((name) => unlessGone(unlink(join(folder, name)))))
}

async function unlessGone(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isMissing(error)) throw error
  })
}

async function readSentOffset(path: string): Promise<number> {
  try {
    return Number.parseInt(await readFile(path + sentSuffix, 'utf8'), 10) || 0
  } catch (error) {
    if (isMissing(error)) return 0
    throw error
  }
}

/** Complete frames of `bytes` from `offset` on, up to `enough` records, and the offset after them. */
function readFrames(bytes: Buffer, offset: number, key: KeyObject | undefined, enough: number) {
  const frames: SegmentFrame[] = []
  let start = offset
  for (let count = 0; count < enough;) {
    const frame = decodeFrame(bytes, start, key)
    if (frame.kind !== 'frame') return { frames, end: start, isCorrupt: frame.kind === 'corrupt' }
    const { records, end } = frame
    frames.push({ records, start, end })
    count += records.length
    start = end
  }
  return { frames, end: start, isCorrupt: false }
}
