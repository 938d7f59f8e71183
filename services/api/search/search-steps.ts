import { dayMs } from '../http/time-range.ts'
import type { Slice, SliceRange } from '../stores/search-store.ts'

/** The first slice is small, so that the first answer comes soon. Later ones take about `sliceMs`. */
const firstSlice = 500
const maxSlice = 20_000
const sliceMs = 250

/** The UTC days of a range, newest first, each within it. */
export function* daysOf(startMs: number, endMs: number): Generator<{ fromMs: number; toMs: number }> {
  for (let toMs = endMs; toMs > startMs;) {
    const fromMs = Math.max(startMs, Math.floor((toMs - 1) / dayMs) * dayMs)
    yield { fromMs, toMs }
    toMs = fromMs
  }
}

/**
 * The slices of a range of time, newest first, each by a statement on one day. A slice is larger or smaller
 * than the one before by how long that took with all that its reader did.
 */
export async function* slicesOf(
  readSlice: (range: SliceRange) => Promise<Slice>,
  range: { startMs: number; endMs: number; before: string | null },
  now: () => number,
): AsyncGenerator<Slice & { last: string }> {
  let limit = firstSlice
  let { before } = range
  for (const day of daysOf(range.startMs, range.endMs)) {
    for (;;) {
      const beganMs = now()
      const slice = await readSlice({ ...day, before, limit })
      if (slice.last === null) break
      yield { ...slice, last: slice.last }
      before = slice.last
      if (slice.lookedAt < limit) break
      const isFast = now() - beganMs < sliceMs
      limit = isFast ? Math.min(limit * 2, maxSlice) : Math.max(Math.floor(limit / 2), firstSlice)
    }
  }
}

/** In order, each within both limits but for a single one that is larger. */
export function batchesOf<T extends { bytes: number }>(
  all: readonly T[],
  { maxCount, maxBytes }: { maxCount: number; maxBytes: number },
): T[][] {
  const batches: T[][] = []
  let bytes = Infinity
  for (const each of all) {
    const last = batches.at(-1)
    bytes += each.bytes
    if (last === undefined || last.length >= maxCount || bytes > maxBytes) {
      batches.push([each])
      bytes = each.bytes
    } else last.push(each)
  }
  return batches
}

/**
 * The text of a search for the audit log, which never holds a secret: what looks like a key, a run of 16
 * characters or more with a digit, is cut to its first eight.
 */
export function withoutKeys(text: string): string {
  return text.replace(/[^\s"]{16,}/gu, (run) =>
    /\d/u.test(run) ? `${Array.from(run).slice(0, 8).join('')}…` : run,
  )
}
