/** A call's bar, in per cent of the width. */
export interface Bar {
  left: number
  width: number
  /** Milliseconds without any call before it, if they are drawn shorter than they were. */
  shortenedMs: number | undefined
}

/** Drawn waits take at most this share of the time in calls each, and no less than a second. */
const waitShare = 0.1

/**
 * The bars of calls in order of their start. Waits for people would make every call a hairline: long ones are
 * drawn shorter.
 */
export function layOutWaterfall(calls: readonly { startMs: number; latencyMs: number | null }[]): Bar[] {
  const spans = calls.map(({ startMs, latencyMs }) => ({ startMs, lengthMs: Math.max(latencyMs ?? 0, 1) }))
  const busyMs = spans.reduce((sum, { lengthMs }) => sum + lengthMs, 0)
  const maxWaitMs = Math.max(1_000, busyMs * waitShare)
  let endMs = spans[0]?.startMs ?? 0
  let leftOutMs = endMs
  const placed = spans.map(({ startMs, lengthMs }) => {
    const waitMs = startMs - endMs
    const isShortened = waitMs > maxWaitMs
    if (isShortened) leftOutMs += waitMs - maxWaitMs
    endMs = Math.max(endMs, startMs + lengthMs)
    return { fromMs: startMs - leftOutMs, lengthMs, shortenedMs: isShortened ? waitMs : undefined }
  })
  const wholeMs = Math.max(1, ...placed.map(({ fromMs, lengthMs }) => fromMs + lengthMs))
  return placed.map(({ fromMs, lengthMs, shortenedMs }) => ({
    left: (100 * fromMs) / wholeMs,
    width: (100 * lengthMs) / wholeMs,
    shortenedMs,
  }))
}
