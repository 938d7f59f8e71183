/** Arrival times of an answer's bytes. */
export interface Arrivals {
  /** Called for each chunk. */
  add(chunkBytes: number, atMs: number): void
  /** When the first `passed` bytes had arrived; undefined if they have not. */
  timeOf(passed: number): number | undefined
}

/** Chunks within 5 % of the elapsed time share a mark: 250 marks are enough for ten minutes. */
const shareOfTime = 1.05
const minMs = 0.5

/**
 * Keeps marks by position, so that nothing is parsed while it passes; a position is known when the answer is
 * recorded.
 */
export function createArrivals(): Arrivals {
  const marks: { passed: number; atMs: number }[] = []
  let passed = 0
  return {
    add(chunkBytes, atMs) {
      passed += chunkBytes
      const last = marks.at(-1)
      if (last === undefined || atMs > last.atMs * shareOfTime + minMs) marks.push({ passed, atMs })
      else last.passed = passed
    },
    timeOf: (bytes) => marks.find((mark) => mark.passed >= bytes)?.atMs,
  }
}

/** Bytes up to the end of a text in an answer; undefined if it is not found. */
export function endOfText(text: string, bytes: Buffer): number | undefined {
  const at = bytes.indexOf(text)
  return at === -1 ? undefined : at + Buffer.byteLength(text)
}
