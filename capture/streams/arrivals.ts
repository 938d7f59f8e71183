/** When the bytes of an answer came. */
export interface Arrivals {
  /** Told of each chunk, while it passes. */
  add(chunkBytes: number, atMs: number): void
  /** When the first `passed` bytes had come; undefined where they have not. */
  timeOf(passed: number): number | undefined
}

/** A chunk that comes within a twentieth of the time until the one before counts as that: 250 times are enough for ten minutes. */
const shareOfTime = 1.05
const minMs = 0.5

/** Keeps some of the times, so that nobody has to look into what passes: where in it something stands is known when it is recorded. */
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

/** How much of an answer has come when a text in it has; undefined where it is not in there. */
export function endOfText(text: string, bytes: Buffer): number | undefined {
  const at = bytes.indexOf(text)
  return at === -1 ? undefined : at + Buffer.byteLength(text)
}
