import type { KeyObject } from 'node:crypto'
import { mkdir, readdir, readFile, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '#runtime/log.ts'
import { eraseAfterMs, eraseFile, type StripBodies } from '../spool/erase-bodies.ts'
import { decodeFrame, encodeFrame, headerBytes, segmentHeader } from '../spool/segment-format.ts'
import { begunMsOf, isEphemeralPath, segmentName, segmentSuffix } from '../spool/segment.ts'
import { isMissing } from '../spool/spool-lock.ts'

/** Records beside the spool, as one-frame segments. */
export interface KeptRecords {
  /** `isEphemeral`: of a project that keeps no content. */
  keep(record: Buffer, id: string, isEphemeral: boolean): Promise<void>
  /** Takes the bodies out of those of projects that keep no content, after an hour. */
  eraseAged(): Promise<void>
  /** Hands each record to `take`, oldest first, and removes those that it wanted. */
  giveBack(take: (record: Buffer, isEphemeral: boolean) => Promise<boolean>): Promise<void>
}

interface KeptOptions {
  directory: string
  key: KeyObject | undefined
  /** Kept at most; the oldest make room. */
  maxBytes: number
  stripBodies: StripBodies
  now: () => number
  log: Log
  /** Told of each record that made room. */
  onDropped: () => void
}

export function createKeptRecords(options: KeptOptions): KeptRecords {
  const { directory, key, stripBodies, now, log } = options
  return {
    async keep(record, id, isEphemeral) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const frame = encodeFrame(record, key)
      const path = join(directory, segmentName(now(), id, isEphemeral))
      await writeFile(path, Buffer.concat([segmentHeader(), frame]), { mode: 0o600 })
      await makeRoom(options)
    },
    async eraseAged() {
      const isDue = (name: string) => isEphemeralPath(name) && now() - begunMsOf(name) >= eraseAfterMs
      try {
        for (const name of (await namesIn(directory)).filter(isDue))
          await eraseFile(join(directory, name), key, stripBodies)
      } catch (error) {
        // Another gateway beside this one may have been first.
        if (!isMissing(error)) log.error({ err: error }, 'kept records cannot be erased; it is tried again')
      }
    },
    async giveBack(take) {
      try {
        for (const name of await namesIn(directory)) {
          const path = join(directory, name)
          const frame = decodeFrame(await readFile(path), headerBytes, key)
          if (frame.kind !== 'frame' || frame.record === null) continue
          if (await take(frame.record, isEphemeralPath(name))) await unlink(path)
        }
      } catch (error) {
        if (!isMissing(error)) log.error({ err: error }, 'kept records cannot be read; they stay')
      }
    },
  }
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => name.endsWith(segmentSuffix)).sort()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

async function makeRoom({ directory, maxBytes, onDropped }: KeptOptions): Promise<void> {
  const names = await namesIn(directory)
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).size))
  let total = sizes.reduce((sum, size) => sum + size, 0)
  for (const [index, name] of names.entries()) {
    if (total <= maxBytes) return
    total -= sizes[index] ?? 0
    await unlink(join(directory, name))
    onDropped()
  }
}
