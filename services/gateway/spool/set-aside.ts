import { mkdir, readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '#runtime/log.ts'
import { areBodiesDue } from './erase-bodies.ts'
import type { FileAges } from './file-ages.ts'
import { isEphemeralPath, isReadable, moveSegment, removeNote, segmentSuffix } from './segment.ts'
import { isMissing } from './spool-lock.ts'

const folderName = 'set-aside'

/** What lies in `set-aside/`: segments of another version, for the gateway that can read them. */
export interface SetAside {
  segments: number
  bytes: number
}

/** Told of what the disk refuses: it holds nothing else up. */
export type OnFailure = (path: string, error: unknown) => void

export interface SetAsideLimits {
  maxAsideBytes: number
  now: () => number
  ages: FileAges
  log: Log
  /** Told of each segment that is dropped. How many records it held is not known; at least one. */
  onLost: (reason: 'spool_full' | 'unreadable', records: number) => void
}

/** Moves a segment that cannot be read there. */
export async function setAside(directory: string, path: string): Promise<void> {
  const aside = join(directory, folderName)
  await mkdir(aside, { recursive: true, mode: 0o700 })
  await moveSegment(path, aside)
}

/** Paths of those that this version can read. */
export async function findReadable(directory: string, onFailure: OnFailure): Promise<string[]> {
  const readable: string[] = []
  for (const path of await pathsIn(directory, onFailure)) {
    try {
      if (await isReadable(path)) readable.push(path)
    } catch (error) {
      // Another gateway beside this one has it.
      if (!isMissing(error)) onFailure(path, error)
    }
  }
  return readable
}

/**
 * Drops what may lie there no longer: records of projects that keep no content after an hour, as nobody here can take the bodies out of them, those of
 * others once they are as old as content is kept, and the oldest beyond `maxAsideBytes`. Resolves to what is left.
 */
export async function boundSetAside(
  directory: string,
  { maxAsideBytes, now, ages, log, onLost }: SetAsideLimits,
  onFailure: OnFailure,
): Promise<SetAside> {
  const left: SetAside = { segments: 0, bytes: 0 }
  // The youngest first: the oldest make room.
  for (const path of (await pathsIn(directory, onFailure)).toReversed()) {
    try {
      const { size } = await stat(path)
      const sinceMs = await ages.sinceMs(path)
      const isDue =
        (isEphemeralPath(path) && areBodiesDue(sinceMs, now())) || ages.isContentDue(path, sinceMs)
      if (!isDue && left.bytes + size <= maxAsideBytes) {
        left.segments++
        left.bytes += size
        continue
      }
      await unlink(path)
      const reason = isDue ? 'unreadable' : 'spool_full'
      onLost(reason, 1)
      log.error({ reason, segment: path }, 'a segment of another version is dropped, with all its records')
      await removeNote(path)
    } catch (error) {
      // Another gateway beside this one has taken or dropped it.
      if (!isMissing(error)) onFailure(path, error)
    }
  }
  return left
}

/** Oldest first. */
async function pathsIn(directory: string, onFailure: OnFailure): Promise<string[]> {
  const folder = join(directory, folderName)
  try {
    const names = (await readdir(folder)).filter((name) => name.endsWith(segmentSuffix))
    return names.sort().map((name) => join(folder, name))
  } catch (error) {
    if (!isMissing(error)) onFailure(folder, error)
    return []
  }
}
