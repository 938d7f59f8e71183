import { findMatches } from '../find-matches.ts'
import { neededStarts } from './needed-starts.ts'
import { hasOneOf, placeOfStart, type WordStarts } from './word-starts.ts'

/** A pattern, and what a text must have for it to match: of each list one beginning of a word. */
export interface GatedPattern {
  pattern: RegExp
  needs: readonly (readonly number[])[]
}

const none: readonly RegExpExecArray[] = []

export function gatePattern(pattern: RegExp): GatedPattern {
  return { pattern, needs: neededStarts(pattern).map((words) => words.map(placeOfStart)) }
}

/** The same of a pattern's source. */
export function gateSource(source: string): GatedPattern {
  return gatePattern(new RegExp(source, 'g'))
}

/** As `findMatches`, which is asked only where the words of the text allow a match: of a hundred patterns for phrases five to fifteen. */
export function findGated(
  text: string,
  starts: WordStarts,
  { pattern, needs }: GatedPattern,
  most?: number,
): readonly RegExpExecArray[] {
  for (const places of needs) if (!hasOneOf(starts, places)) return none
  return findMatches(text, pattern, most)
}
