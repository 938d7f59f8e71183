import type { KeyObject } from 'node:crypto'
import { mkdir, readdir, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '#runtime/log.ts'
import { eraseAfterMs, eraseFile, type StripBodies } from '../spool/erase-bodies.ts'
import { encodeFrame, segmentHeader } from '../spool/segment-format.ts'
import { begunMsOf, isEphemeralPath, segmentName, segmentSuffix } from '../spool/segment.ts'
import { isMissing } from '../spool/spool-lock.ts'

/** Records that the API service will never take, kept for people to look at, as one-frame segments. */
export interface RejectedRecords {
  /** `isEphemeral`: of a project that keeps no content. */
  keep(record: Buffer, id: string, isEphemeral: boolean): Promise<void>
  /** Takes the bodies out of those of projects that keep no content, after an hour. */
  eraseAged(): Promise<void>
}

interface RejectedOptions {
  directory: string
  key: KeyObject | undefined
  /** Kept at most; the oldest make room. */
  maxBytes: number
  stripBodies: StripBodies
  now: () => number
  log: Log
}

export function createRejectedRecords(options: RejectedOptions): RejectedRecords {
  const { directory, key, maxBytes, stripBodies, now, log } = options
  const list = async () => {
    try {
      return (await readdir(directory)).filter((name) => name.endsWith(segmentSuffix)).sort()
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  }
  const makeRoom = async () => {
    const names = await list()
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).size))
    let total = sizes.reduce((sum, size) => sum + size, 0)
    for (const [index, name] of names.entries()) {
      if (total <= maxBytes) return
      total -= sizes[index] ?? 0
      await unlink(join(directory, name))
    }
  }
  return {
    async keep(record, id, isEphemeral) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const frame = encodeFrame(record, key)
      const path = join(directory, segmentName(now(), id, isEphemeral))
      await writeFile(path, Buffer.concat([segmentHeader(), frame]), { mode: 0o600 })
      await makeRoom()
    },
    async eraseAged() {
      try {
        const isDue = (name: string) => isEphemeralPath(name) && now() - begunMsOf(name) >= eraseAfterMs
        for (const name of (await list()).filter(isDue))
          await eraseFile(join(directory, name), key, stripBodies)
      } catch (error) {
        // Another gateway beside this one may have been first.
        if (!isMissing(error))
          log.error({ err: error }, 'refused records cannot be erased; it is tried again')
      }
    },
  }
}
