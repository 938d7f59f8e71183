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

/** Records kept beside the spool, as segments of one frame. */
export interface KeptRecords {
  /** `isEphemeral`: the project has zero content retention. */
  keep(record: Buffer, id: string, isEphemeral: boolean): Promise<void>
  /**
   * Strips bodies of zero-retention projects after an hour; deletes any record older than the content
   * retention.
   */
  eraseAged(): Promise<void>
  /** Passes each record to `take`, oldest first, and deletes those that it accepts. */
  release(take: (record: Buffer, isEphemeral: boolean) => Promise<boolean>): Promise<void>
}

export interface KeptOptions {
  directory: string
  key: KeyObject | undefined
  /** Maximum bytes on disk; beyond it the oldest records are dropped. */
  maxBytes: number
  stripBodies: StripBodies
  now: () => number
  log: Log
  /** Called for each record that was dropped for space or age, or whose due bodies could not be read. */
  onLost: (reason: 'parked_full' | 'parked_expired' | 'unreadable') => void
}

/**
 * The folder is scanned only after a sixteenth of its limit has been written, and then that much is freed. A
 * scan of 20,000 files takes half a second.
 */
const slackParts = 16

export function createKeptRecords(options: KeptOptions): KeptRecords {
  const { directory, key, maxBytes, now, log } = options
  const slackBytes = maxBytes / slackParts
  const ages = createFileAges(now)
  /** Bytes written since this process last scanned the folder. */
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
      await forEachFile(options, 'a kept record cannot be requeued; it stays', async (path, name) => {
        const frame = decodeFrame(await readFile(path), headerBytes, key)
        const [record = null] = frame.kind === 'frame' ? frame.records : []
        if (record === null) {
          log.error(
            { path },
            'a kept record cannot be decrypted: it is damaged or encrypted with another SPOOL_KEY; it stays',
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
  /**
   * The file of a neighbouring host whose clock is ahead may be half written. A time further ahead comes from
   * this host's own clock, corrected since.
   */
  const isOfNeighbour = (name: string) => {
    const aheadMs = begunMsOf(name) - now()
    return aheadMs > 0 && aheadMs < 2 * eraseAfterMs
  }
  const isWhole = async (path: string) => decodeFrame(await readFile(path), headerBytes, key).kind === 'frame'
  // Remove what a gateway left when it was killed while erasing. A neighbour that is erasing now finds its
  // file gone and tries again.
  await removeStrays(directory).catch((error: unknown) => {
    if (!isMissing(error))
      log.error({ err: error, path: directory }, 'leftovers in a folder of kept records cannot be removed')
  })
  let expired = 0
  await forEachFile(options, 'a kept record cannot be erased; will retry', async (path, name) => {
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
    log.error({ path }, 'a kept record could not be read when its bodies were due for erasure; it is deleted')
  })
  if (expired > 0)
    log.error(
      { path: directory, records: expired },
      `kept records are over ${contentDays} days old and were deleted`,
    )
}

/** When a record was made. Its identifier says so, also after a parked record went back through the spool. */
function keptSinceMs(name: string, begunMs: number, nowMs: number): number {
  const id = idInName(name)
  const madeMs = isId('request', id) ? idTimeMs(id) : begunMs
  return isTime(madeMs, nowMs) ? Math.min(begunMs, madeMs) : begunMs
}

/** A failure skips only that file; a missing file was handled by a neighbouring gateway. */
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
      // A neighbouring gateway has already deleted it.
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
