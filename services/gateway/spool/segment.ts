import type { KeyObject } from 'node:crypto'
import { open, readdir, readFile, rename, stat, unlink, writeFile, type FileHandle } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { decodeFrame, headerBytes, isReadableHeader, lengthOfFrame } from './segment-format.ts'
import { isMissing } from './spool-lock.ts'

/** One file of the spool and how far it has been sent. */
export interface Segment {
  path: string
  /** Bytes of whole frames, header included. */
  size: number
  /** Everything before this offset has been sent. */
  sentOffset: number
  /** Records behind `sentOffset`. */
  unsent: number
  /** When it was begun, Unix milliseconds. */
  begunMs: number
  /** Its records are sealed under a key that is not here: they wait for a gateway that has it. */
  isForeign: boolean
}

/** Records that were written together, and are sent together. */
export interface SegmentFrame {
  /** Null: it cannot be opened with the key that is here. */
  records: readonly (Buffer | null)[]
  start: number
  /** The offset behind it. */
  end: number
}

const sentSuffix = '.sent'
/** It is written whole before it has its name. */
export const unfinishedSuffix = '.new'
export const segmentSuffix = '.segment'
/** Its records are of projects that keep no content: their bodies go after an hour (erase-bodies.ts). */
const ephemeralSuffix = `.ephemeral${segmentSuffix}`

/** A name that sorts by time, among the segments of all processes. */
export function segmentName(nowMs: number, random: string, isEphemeral = false): string {
  return `${String(nowMs).padStart(15, '0')}-${random}${isEphemeral ? ephemeralSuffix : segmentSuffix}`
}

export function isEphemeralPath(path: string): boolean {
  return path.endsWith(ephemeralSuffix)
}

/** Where the records of an ephemeral segment stand once their bodies are gone. */
export function erasedPath(path: string): string {
  return path.slice(0, -ephemeralSuffix.length) + segmentSuffix
}

/** When a segment was begun, by its name; NaN for a name that does not say. */
export function begunMsOf(path: string): number {
  return Number.parseInt(basename(path), 10)
}

/** What `segmentName` was given beside the time. */
export function idInName(path: string): string {
  return /-([^.]*)/.exec(basename(path))?.[1] ?? ''
}

export interface InspectedSegment {
  segment: Segment
  /** Why it cannot be read, or not to its end. A torn end is none: a process that is killed leaves one. */
  problem: 'another version' | 'damaged' | null
}

/** Looks at what a process before this one left. */
export async function inspectSegment(path: string, key: KeyObject | undefined): Promise<InspectedSegment> {
  const bytes = await readFile(path)
  const begunMs = begunMsOf(path) || (await stat(path)).mtimeMs
  const empty = { path, size: bytes.length, sentOffset: bytes.length, unsent: 0, begunMs, isForeign: false }
  // A process can be killed before it has written the header.
  if (bytes.length < headerBytes) return { segment: empty, problem: null }
  if (!isReadableHeader(bytes)) return { segment: empty, problem: 'another version' }
  const { frames, end, isCorrupt } = readFrames(bytes, headerBytes, undefined, Infinity)
  const notedOffset = await readSentOffset(path)
  const unsentFrames = frames.filter((frame) => frame.end > notedOffset)
  const unsent = countRecords(unsentFrames)
  // Of a note that was torn only the first digits are there: it points into a frame, which goes again from its start.
  const sentOffset = unsentFrames[0]?.start ?? end
  // One key has sealed them all: that of the process which wrote the segment.
  const isForeign = unsent > 0 && readFrames(bytes, headerBytes, key, 1).frames[0]?.records[0] === null
  const segment = { ...empty, size: end, sentOffset, unsent, isForeign }
  return { segment, problem: isCorrupt ? 'damaged' : null }
}

/** Whether a segment is of a version that this gateway reads. */
export async function isReadable(path: string): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    return isReadableHeader(await readWindow(file, 0, headerBytes))
  } finally {
    await file.close()
  }
}

export interface ReadLimits {
  /** Nothing behind it is read. */
  offset: number
  /** About, as of bytes: one frame is read however much it holds. */
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

/** Notes how far a segment has been sent. Losing the note costs a resend, which ingest recognises. */
export async function writeSentOffset(segment: Segment): Promise<void> {
  await writeFile(segment.path + sentSuffix, String(segment.sentOffset), { mode: 0o600 })
}

/** With the note of what of it is sent, which goes first: whoever takes the segment finds it. */
export async function moveSegment(path: string, folder: string): Promise<void> {
  await moveNote(path, folder)
  await rename(path, join(folder, basename(path)))
}

/** Of the segment that is or was at `path`. */
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

/** What a process left in `folder` that is of no segment: a note that was being written while its segment made room, a file that was to become one. */
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

/** The whole frames of `bytes` from `offset` on, until they hold `enough` records, and where the first that is not whole begins. */
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
