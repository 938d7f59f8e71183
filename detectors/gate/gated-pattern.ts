import { findMatches } from '../find-matches.ts'
import { neededStarts } from './needed-starts.ts'
import { hasOneOf, placeOfStart, type WordStarts } from './word-starts.ts'

/** A pattern and what a text needs to match it: from each list, one word prefix. */
export interface GatedPattern {
  pattern: RegExp
  needs: readonly (readonly number[])[]
}

const none: readonly RegExpExecArray[] = []

export function gatePattern(pattern: RegExp): GatedPattern {
  return { pattern, needs: neededStarts(pattern).map((words) => words.map(placeOfStart)) }
}

/** The same, from a pattern's source. */
export function gateSource(source: string): GatedPattern {
  return gatePattern(new RegExp(source, 'g'))
}

/** Like `findMatches`, but runs the pattern only if the text has its words: 5 to 15 of 100 patterns. */
export function findGated(
  text: string,
  starts: WordStarts,
  { pattern, needs }: GatedPattern,
  max?: number,
): readonly RegExpExecArray[] {
  for (const places of needs) if (!hasOneOf(starts, places)) return none
  return findMatches(text, pattern, max)
}

/** `words(3)`: in a pattern, up to three words between two others. */
export function words(count: number): string {
  return String.raw`(?:\W+\w+){0,${count}}?\W+`
}
