import { signedWords, unitsOf, type SearchUnits } from './search-units.ts'

/** Words in order. A query has at least one, and a call must have all of them. */
export type SearchTerm = SearchUnits

const maxTerms = 10
const quoted = /"([^"]*)"?|[^\s"]+/gu

/**
 * The terms of a query: `"several words"` follow each other, and so do the parts of `sk-live-1`. Undefined:
 * no word, or more than ten terms.
 */
export function readSearch(text: string): SearchTerm[] | undefined {
  const terms = [...text.matchAll(quoted)]
    .map(([whole, inner]) => unitsOf(inner ?? whole))
    .filter(({ values }) => values.length > 0)
  return terms.length === 0 || terms.length > maxTerms ? undefined : terms
}

/** The words that a signature must have. */
export function wordsToFind(terms: readonly SearchTerm[]): string[] {
  return [...new Set(terms.flatMap((term) => [...signedWords(term)]))]
}

/** UTF-16 positions in a text. */
export interface Found {
  start: number
  end: number
}

/** Where the term stands in a text, at most `limit` times. */
export function findTerm({ values, joined }: SearchTerm, text: SearchUnits, limit: number): Found[] {
  const found: Found[] = []
  const last = text.values.length - values.length
  for (let at = 0; at <= last && found.length < limit; at++) {
    if (!values.every((value, index) => value === text.values[at + index])) continue
    // Between two characters the text may have nothing where the query has nothing.
    if (!joined.every((isJoined, index) => !isJoined || text.joined[at + index] === true)) continue
    found.push({ start: text.starts[at] ?? 0, end: text.ends[at + values.length - 1] ?? 0 })
  }
  return found
}
