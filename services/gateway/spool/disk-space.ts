import { statfs } from 'node:fs/promises'
import type { Log } from '#runtime/log.ts'

/** A twentieth stays free for sent-offset notes and for segments rewritten without bodies. */
const reserveParts = 20
const maxReserveBytes = 64 * 1024 * 1024

/** The spool's size limit: SPOOL_MAX_BYTES, or less on a smaller file system. */
export interface DiskSpace {
  limit(): number
  /** Measures free space; `usedBytes` is what the spool occupies. */
  measure(usedBytes: number): Promise<void>
  /** Adds bytes that were on the disk before and now belong to the spool. */
  adopt(byteLength: number): void
}

interface DiskSpaceOptions {
  directory: string
  maxBytes: number
  log: Log
  onLimit: (bytes: number) => void
}

export function createDiskSpace({ directory, maxBytes, log, onLimit }: DiskSpaceOptions): DiskSpace {
  let available = Number.POSITIVE_INFINITY
  let isSmall = false
  const limit = () => Math.min(maxBytes, available)
  return {
    limit,
    async measure(usedBytes) {
      try {
        const { bavail, bsize } = await statfs(directory)
        const bytes = usedBytes + bavail * bsize
        available = Math.floor(bytes - Math.min(maxReserveBytes, bytes / reserveParts))
      } catch (error) {
        log.warn({ err: error, directory }, 'the free space of the spool file system cannot be measured')
        return
      }
      if (available < maxBytes && !isSmall)
        log.warn({ directory, limit_bytes: limit() }, 'the file system has less space than SPOOL_MAX_BYTES')
      isSmall = available < maxBytes
      onLimit(limit())
    },
    adopt(byteLength) {
      available += byteLength
      onLimit(limit())
    },
  }
}

/**
 * Measures free disk space without making the caller wait: a disk may hang. One call at a time, because each
 * blocks one of Node's four threads.
 */
export function createFreeSpaceProbe(directory: string, onFree: (freeBytes: number) => void): () => void {
  let isMeasuring = false
  const measure = async () => {
    isMeasuring = true
    try {
      const { bavail, bsize } = await statfs(directory)
      onFree(bavail * bsize)
    } catch {
      // The spool, which writes to the disk, reports its failures.
    }
    isMeasuring = false
  }
  return () => {
    if (!isMeasuring) void measure()
  }
}
