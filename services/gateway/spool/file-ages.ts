import { stat, utimes } from 'node:fs/promises'
import { isContentDue } from './erase-bodies.ts'
import { begunMsOf, isEphemeralPath } from './segment.ts'

/** No gateway was before it: hosts begin there whose clock was not set. */
const firstMs = Date.UTC(2020, 0, 1)
const minMs = 3_600_000

/**
 * Since when files of records are kept. The name says it, but where its time is no number, or lies before 2020 by a clock that does not: then the
 * file's own time counts, and where that is no better the time at which the file was first seen, which becomes its own. No such file is deleted for its
 * age in the hour after this process first saw it: what it says may be wrong too. What a project that keeps no content may have had for
 * over an hour loses its bodies at once all the same.
 */
export interface FileAges {
  sinceMs(path: string): Promise<number>
  /** Whether it has been kept for as long as content is, if since `sinceMs`. */
  isContentDue(path: string, sinceMs: number): boolean
}

export function createFileAges(now: () => number): FileAges {
  /** Of those whose names say nothing; they are few. */
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

/** Whether a file can be of that time, by a clock that stands at `nowMs`: where it was not set yet, nobody can tell. */
export function isTime(ms: number, nowMs: number): boolean {
  return ms >= (nowMs < firstMs ? 0 : firstMs)
}
