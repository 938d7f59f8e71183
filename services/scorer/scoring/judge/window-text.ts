const gapMark = (characters: number) => ` […${characters} characters left out…] `
const headShare = 0.4
const tailShare = 0.3
/** Units shown around a flagged passage. */
const around = 200

/**
 * Shortens a text to about `max` UTF-16 units: head, tail and flagged passages, with marks at each gap.
 * Shorter texts are returned unchanged. `flagged`: passages of the text.
 */
export function windowText(text: string, max: number, flagged: readonly string[] = []): string {
  if (text.length <= max) return text
  const head = Math.floor(max * headShare)
  const tail = text.length - Math.floor(max * tailShare)
  const kept: [number, number][] = [[0, head]]
  let left = max - head - (text.length - tail)
  for (const [start, end] of placesOf(text, flagged, head, tail)) {
    const from = Math.max(kept.at(-1)?.[1] ?? 0, start - around)
    const to = Math.min(tail, end + around, from + left)
    if (to <= from) continue
    kept.push([from, to])
    left -= to - from
  }
  kept.push([tail, text.length])
  return joinKept(text, kept)
}

function placesOf(text: string, flagged: readonly string[], from: number, to: number): [number, number][] {
  return flagged
    .map((passage) => [text.indexOf(passage, from), passage.length] as const)
    .filter(([at, length]) => at >= 0 && at < to && length > 0)
    .map(([at, length]): [number, number] => [at, at + length])
    .sort((left, right) => left[0] - right[0])
}

function joinKept(text: string, kept: readonly [number, number][]): string {
  let joined = ''
  let at = 0
  for (const [start, end] of kept) {
    if (start > at) joined += gapMark(start - at)
    joined += text.slice(start, end)
    at = end
  }
  // Repairs surrogate pairs split by a cut.
  return joined.toWellFormed()
}
