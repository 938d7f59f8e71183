import type { KeyObject } from 'node:crypto'
import { mkdir, readdir, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeFrame, segmentHeader } from '../spool/segment-format.ts'
import { segmentName, segmentSuffix } from '../spool/segment.ts'

/** Records that the API service will never take, kept for people to look at, as one-frame segments. */
export interface RejectedRecords {
  keep(record: Buffer, id: string): Promise<void>
}

/** Keeps at most `maxBytes` in `directory`; the oldest make room. */
export function createRejectedRecords(
  directory: string,
  key: KeyObject | undefined,
  maxBytes: number,
  now: () => number,
): RejectedRecords {
  const makeRoom = async () => {
    const names = (await readdir(directory)).filter((name) => name.endsWith(segmentSuffix)).sort()
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).size))
    let total = sizes.reduce((sum, size) => sum + size, 0)
    for (const [index, name] of names.entries()) {
      if (total <= maxBytes) return
      total -= sizes[index] ?? 0
      await unlink(join(directory, name))
    }
  }
  return {
    async keep(record, id) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const frame = encodeFrame(record, key)
      await writeFile(join(directory, segmentName(now(), id)), Buffer.concat([segmentHeader(), frame]), {
        mode: 0o600,
      })
      await makeRoom()
    },
  }
}
