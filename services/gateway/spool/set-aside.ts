import { mkdir, readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '#runtime/log.ts'
import { areBodiesDue } from './erase-bodies.ts'
import type { FileAges } from './file-ages.ts'
import { isEphemeralPath, isReadable, moveSegment, removeNote, segmentSuffix } from './segment.ts'
import { isMissing } from './spool-lock.ts'

const folderName = 'set-aside'

/** Content of `set-aside/`: segments of another version, for a gateway that can read them. */
export interface SetAside {
  segments: number
  bytes: number
}

/** Called for disk errors; work continues with the next file. */
export type OnFailure = (path: string, error: unknown) => void

export interface SetAsideLimits {
  maxAsideBytes: number
  now: () => number
  ages: FileAges
  log: Log
  /** Called for each dropped segment. Its number of records is unknown; at least one. */
  onLost: (reason: 'spool_full' | 'unreadable', records: number) => void
}

/** Moves an unreadable segment to `set-aside/`. */
export async function setAside(directory: string, path: string): Promise<void> {
  const aside = join(directory, folderName)
  await mkdir(aside, { recursive: true, mode: 0o700 })
  await moveSegment(path, aside)
}

/** Paths of segments that this version can read. */
export async function findReadable(directory: string, onFailure: OnFailure): Promise<string[]> {
  const readable: string[] = []
  for (const path of await pathsIn(directory, onFailure)) {
    try {
      if (await isReadable(path)) readable.push(path)
    } catch (error) {
      // A neighbouring gateway moved it.
      if (!isMissing(error)) onFailure(path, error)
    }
  }
  return readable
}

/**
 * Drops expired segments: zero-retention ones after an hour, as their bodies cannot be stripped here, others
 * after the content retention, and the oldest beyond `maxAsideBytes`. Returns what is left.
 */
export async function boundSetAside(
  directory: string,
  { maxAsideBytes, now, ages, log, onLost }: SetAsideLimits,
  onFailure: OnFailure,
): Promise<SetAside> {
  const left: SetAside = { segments: 0, bytes: 0 }
  // Newest first, so that the oldest are dropped.
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
      // A neighbouring gateway moved or dropped it.
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
