import { findMatches } from './find-matches.ts'

/** A text with replaced characters, and a map from its units back to the original's. */
export interface FoldedText {
  text: string
  originOf: (unit: number) => number
}

const beyondAscii = /[^\0-\x7f]+/g

/**
 * Lower-cases ASCII and replaces every other character by `fold` (which may return more or no characters).
 * Runs of ASCII, nearly all of most texts, cost one native call instead of a loop.
 */
export function foldCharacters(original: string, fold: (character: string) => string): FoldedText {
  const pieces: string[] = []
  // Offsets where the two texts diverge: units from folded[i] on come from origins[i] on.
  const folded = [0]
  const origins = [0]
  let length = 0
  let from = 0
  const append = (piece: string) => {
    pieces.push(piece)
    length += piece.length
  }
  for (const run of findMatches(original, beyondAscii)) {
    append(original.slice(from, run.index).toLowerCase())
    from = run.index
    for (const character of run[0]) {
      const replacement = fold(character)
      if (replacement.length !== character.length) {
        for (let unit = 0; unit < replacement.length; unit++) {
          folded.push(length + unit)
          origins.push(from)
        }
        folded.push(length + replacement.length)
        origins.push(from + character.length)
      }
      append(replacement)
      from += character.length
    }
  }
  append(original.slice(from).toLowerCase())
  return {
    text: pieces.join(''),
    originOf: (unit) => originAt(folded, origins, unit),
  }
}

/** The text with matches of `pattern` replaced by at most as many units. */
export function rewriteText(
  original: string,
  pattern: RegExp,
  replacementOf: (match: string) => string,
): FoldedText {
  const pieces: string[] = []
  const folded = [0]
  const origins = [0]
  let length = 0
  let from = 0
  for (const { 0: match, index } of findMatches(original, pattern)) {
    const replacement = replacementOf(match)
    pieces.push(original.slice(from, index), replacement)
    length += index - from + replacement.length
    from = index + match.length
    folded.push(length)
    origins.push(from)
  }
  pieces.push(original.slice(from))
  return { text: pieces.join(''), originOf: (unit) => originAt(folded, origins, unit) }
}

function originAt(folded: readonly number[], origins: readonly number[], unit: number): number {
  const index = lastAtMost(folded, unit)
  return (origins[index] ?? 0) + unit - (folded[index] ?? 0)
}

/** Index of the last value at most `limit`, in an ascending list whose first value is at most `limit`. */
function lastAtMost(values: readonly number[], limit: number): number {
  let low = 0
  let high = values.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((values[middle] ?? Infinity) <= limit) low = middle
    else high = middle - 1
  }
  return low
}

/** Memoizes a per-character function: alphabets are small and normalization is slow. */
export function remember(fold: (character: string) => string): (character: string) => string {
  const known = new Map<string, string>()
  return (character) => {
    const before = known.get(character)
    if (before !== undefined) return before
    const replacement = fold(character)
    if (known.size < 10_000) known.set(character, replacement)
    return replacement
  }
}
