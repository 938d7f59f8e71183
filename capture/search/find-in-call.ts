import { findTerm, type Found, type SearchTerm } from './search-query.ts'
import { searchedTexts } from './searched-texts.ts'
import { unitsOf, type SearchUnits } from './search-units.ts'

/** A part of a body with what was found. */
export interface Excerpt {
  part: 'request' | 'response'
  text: string
  /** Where the terms stand in `text`, in order and apart. */
  marks: Found[]
}

const around = 100
/** UTF-16 units of what was found; a phrase of signs between words has no bound. */
const maxFound = 200
const maxMarks = 20

/**
 * Looks for all terms in a call. Undefined: one is missing. Otherwise an excerpt for each text that had the
 * first occurrence of a term.
 */
export function findInCall(
  terms: readonly SearchTerm[],
  bodies: Readonly<Record<Excerpt['part'], string | null>>,
): Excerpt[] | undefined {
  const missing = new Set(terms)
  const excerpts: Excerpt[] = []
  for (const part of ['request', 'response'] as const) {
    for (const text of bodies[part] === null ? [] : searchedTexts(bodies[part])) {
      const units = unitsOf(text)
      const found = [...missing].flatMap((term) => {
        const [first] = findTerm(term, units, 1)
        if (first === undefined) return []
        missing.delete(term)
        return [first]
      })
      const [shown] = found
      if (shown !== undefined) excerpts.push(excerptOf(part, text, shown, marksIn(terms, units)))
      if (missing.size === 0) return excerpts
    }
  }
  return undefined
}

function marksIn(terms: readonly SearchTerm[], units: SearchUnits): Found[] {
  return terms
    .flatMap((term) => findTerm(term, units, maxMarks))
    .sort((one, other) => one.start - other.start)
}

function excerptOf(
  part: Excerpt['part'],
  text: string,
  { start, end }: Found,
  all: readonly Found[],
): Excerpt {
  const from = edgeOf(text, Math.max(0, start - around))
  const to = edgeOf(text, Math.min(text.length, Math.min(end, start + maxFound) + around))
  const marks: Found[] = []
  for (const mark of [{ start, end }, ...all].sort((one, other) => one.start - other.start)) {
    const begin = Math.max(mark.start, marks.at(-1)?.end ?? 0, from)
    const stop = Math.min(mark.end, to)
    if (begin < stop) marks.push({ start: begin, end: stop })
  }
  return {
    part,
    text: text.slice(from, to),
    marks: marks.map((mark) => ({ start: mark.start - from, end: mark.end - from })),
  }
}

/** Not between the two halves of a character. */
function edgeOf(text: string, at: number): number {
  const isInside = /^[\udc00-\udfff]/.test(text.charAt(at)) && at > 0
  return isInside ? at - 1 : at
}
