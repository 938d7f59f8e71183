import type { KeyObject } from 'node:crypto'
import { mkdir, readdir, readFile, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '#runtime/log.ts'
import { contentDays } from '#schemas/content-retention.ts'
import { idTimeMs, isId } from '#schemas/ids.ts'
import { areBodiesDue, eraseAfterMs, eraseFile, type StripBodies } from '../spool/erase-bodies.ts'
import { createFileAges, isTime, type FileAges } from '../spool/file-ages.ts'
import { decodeFrame, encodeFrames, headerBytes, segmentHeader } from '../spool/segment-format.ts'
import {
  begunMsOf,
  idInName,
  isEphemeralPath,
  removeStrays,
  segmentName,
  segmentSuffix,
} from '../spool/segment.ts'
import { isMissing } from '../spool/spool-lock.ts'

/** Records beside the spool, as one-frame segments. */
export interface KeptRecords {
  /** `isEphemeral`: of a project that keeps no content. */
  keep(record: Buffer, id: string, isEphemeral: boolean): Promise<void>
  /** Takes the bodies out of those of projects that keep no content, after an hour; removes every record that is as old as content is kept. */
  eraseAged(): Promise<void>
  /** Hands each record to `take`, oldest first, and removes those that it wanted. */
  release(take: (record: Buffer, isEphemeral: boolean) => Promise<boolean>): Promise<void>
}

export interface KeptOptions {
  directory: string
  key: KeyObject | undefined
  /** Kept at most; the oldest make room. */
  maxBytes: number
  stripBodies: StripBodies
  now: () => number
  log: Log
  /** Told of each record that made room, became too old, or was due to lose its bodies and could not be opened. */
  onLost: (reason: 'parked_full' | 'parked_expired' | 'unreadable') => void
}

/**
 * The folder is looked at again when a sixteenth of what it may hold has been written, and so much room is made: of 20,000 files that takes half a second,
 * which each record took.
 */
const slackParts = 16

export function createKeptRecords(options: KeptOptions): KeptRecords {
  const { directory, key, maxBytes, now, log } = options
  const slackBytes = maxBytes / slackParts
  const ages = createFileAges(now)
  /** Since the folder was last looked at, by this process. */
  let bytesWritten = Number.POSITIVE_INFINITY
  return {
    async keep(record, id, isEphemeral) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const frame = encodeFrames([record], key)
      const path = join(directory, segmentName(now(), id, isEphemeral))
      const bytes = Buffer.concat([segmentHeader(), frame])
      await writeFile(path, bytes, { mode: 0o600 })
      bytesWritten += bytes.length
      if (bytesWritten < slackBytes) return
      await dropOldest(options, maxBytes - slackBytes)
      bytesWritten = 0
    },
    eraseAged: () => eraseAged(options, ages),
    async release(take) {
      await forEachFile(options, 'a kept record cannot be given back; it stays', async (path, name) => {
        const frame = decodeFrame(await readFile(path), headerBytes, key)
        const [record = null] = frame.kind === 'frame' ? frame.records : []
        if (record === null) {
          log.error(
            { path },
            'a kept record cannot be opened: it is damaged, or sealed under another SPOOL_KEY; it stays',
          )
          return
        }
        if (await take(record, isEphemeralPath(name))) await unlink(path)
      })
    },
  }
}

async function eraseAged(options: KeptOptions, ages: FileAges): Promise<void> {
  const { directory, key, stripBodies, now, log, onLost } = options
  /** Of a host beside this one whose clock is ahead, a record may be half written. What lies further ahead is of this one's own clock, set right since. */
  const isOfNeighbour = (name: string) => {
    const aheadMs = begunMsOf(name) - now()
    return aheadMs > 0 && aheadMs < 2 * eraseAfterMs
  }
  const isWhole = async (path: string) => decodeFrame(await readFile(path), headerBytes, key).kind === 'frame'
  // What a gateway left that was killed while it erased. One beside this one may be at it now: it finds its file gone, and tries again.
  await removeStrays(directory).catch((error: unknown) => {
    if (!isMissing(error))
      log.error({ err: error, path: directory }, 'a folder of kept records cannot be cleaned')
  })
  let expired = 0
  await forEachFile(options, 'a kept record cannot be erased; it is tried again', async (path, name) => {
    const begunMs = await ages.sinceMs(path)
    if (ages.isContentDue(path, keptSinceMs(name, begunMs, now()))) {
      await unlink(path)
      expired++
      onLost('parked_expired')
      return
    }
    const isDue = isEphemeralPath(name) && areBodiesDue(begunMs, now())
    if (!isDue || (isOfNeighbour(name) && !(await isWhole(path)))) return
    if (await eraseFile(path, key, stripBodies)) return
    onLost('unreadable')
    log.error({ path }, 'a kept record whose bodies were due to go could not be opened or read: it is gone')
  })
  if (expired > 0)
    log.error(
      { path: directory, records: expired },
      `kept records are over ${contentDays} days old: they are gone`,
    )
}

/** Since when a record is kept: since it was made, as its identifier says, where it was given back and comes from the spool anew. */
function keptSinceMs(name: string, begunMs: number, nowMs: number): number {
  const id = idInName(name)
  const madeMs = isId('request', id) ? idTimeMs(id) : begunMs
  return isTime(madeMs, nowMs) ? Math.min(begunMs, madeMs) : begunMs
}

/** One that fails leaves the others; one that is gone was another gateway's, beside this one. */
async function forEachFile(
  { directory, log }: KeptOptions,
  failure: string,
  work: (path: string, name: string) => Promise<void>,
): Promise<void> {
  const attempt = async (path: string, name: string) => {
    try {
      await work(path, name)
    } catch (error) {
      if (!isMissing(error)) log.error({ err: error, path }, failure)
    }
  }
  let names: string[] = []
  try {
    names = await namesIn(directory)
  } catch (error) {
    log.error({ err: error, path: directory }, failure)
  }
  for (const name of names) await attempt(join(directory, name), name)
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => name.endsWith(segmentSuffix)).sort()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

async function dropOldest({ directory, onLost }: KeptOptions, maxBytes: number): Promise<void> {
  const names = await namesIn(directory)
  const sizes = await Promise.all(names.map((name) => sizeOf(join(directory, name))))
  let total = sizes.reduce((sum, size) => sum + size, 0)
  for (const [index, name] of names.entries()) {
    if (total <= maxBytes) return
    total -= sizes[index] ?? 0
    try {
      await unlink(join(directory, name))
      onLost('parked_full')
    } catch (error) {
      // Another gateway beside this one made the room.
      if (!isMissing(error)) throw error
    }
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (isMissing(error)) return 0
    throw error
  }
}
