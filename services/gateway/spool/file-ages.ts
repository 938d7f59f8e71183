import { stat, utimes } from 'node:fs/promises'
import { isContentDue } from './erase-bodies.ts'
import { begunMsOf, isEphemeralPath } from './segment.ts'

/** Earlier times come from hosts whose clock is not set. */
const firstMs = Date.UTC(2020, 0, 1)
const minMs = 3_600_000

/**
 * Since when record files are kept. The name gives the time, unless it is no number, or lies before 2020
 * although the clock does not. Then the file's own time counts. If that is no better, the file gets the
 * current time. Such a file is not deleted for its age in the first hour, as its time may be wrong. Bodies of
 * zero-retention projects are erased nevertheless.
 */
export interface FileAges {
  sinceMs(path: string): Promise<number>
  /** Whether content kept since `sinceMs` has reached the maximum retention. */
  isContentDue(path: string, sinceMs: number): boolean
}

export function createFileAges(now: () => number): FileAges {
  /** Only files whose names give no time. */
  const firstSeenMs = new Map<string, number>()
  return {
    async sinceMs(path) {
      const nowMs = now()
      const begunMs = begunMsOf(path)
      if (isTime(begunMs, nowMs)) return begunMs
      if (!firstSeenMs.has(path)) firstSeenMs.set(path, nowMs)
      const { mtimeMs } = await stat(path)
      if (isTime(mtimeMs, nowMs) || isEphemeralPath(path)) return mtimeMs
      await utimes(path, nowMs / 1_000, nowMs / 1_000)
      return nowMs
    },
    isContentDue(path, sinceMs) {
      const seenMs = firstSeenMs.get(path)
      if (!isContentDue(sinceMs, now()) || (seenMs !== undefined && now() - seenMs < minMs)) return false
      firstSeenMs.delete(path)
      return true
    },
  }
}

/** Whether a time is plausible. While the clock itself stands before 2020, any time is. */
export function isTime(ms: number, nowMs: number): boolean {
  return ms >= (nowMs < firstMs ? 0 : firstMs)
}
