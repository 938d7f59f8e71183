import { findMatches } from '../find-matches.ts'

/** A sentence, a line or a field's value. */
export interface Segment {
  text: string
  start: number
  end: number
}

const minUnits = 12
const maxUnits = 500
/** Ends of statements: sentences, lines, cells, tags, and the quotes around data values. */
const boundary =
  /[.!?…](?=["')\]]{0,3}\s)|[\n\r|]+|<[^<>\n]{1,200}>|["'`]\s{0,2}[:,\]}]{1,4}\s{0,3}[[{]{0,3}["'`]?|[[{]{1,4}["'`]|["'`][\]}]{1,4}/g

/** Splits a text into the units in which an order would stand, cut at a paragraph's length. */
export function* splitSegments(text: string): Generator<Segment> {
  let from = 0
  for (const match of findMatches(text, boundary)) {
    const end = match.index + (/^[.!?…]/.test(match[0]) ? 1 : 0)
    yield* segmentsBetween(text, from, end)
    from = match.index + match[0].length
  }
  yield* segmentsBetween(text, from, text.length)
}

function* segmentsBetween(text: string, from: number, to: number): Generator<Segment> {
  for (let start = from; start < to; start += maxUnits) {
    const end = Math.min(to, start + maxUnits)
    const piece = text.slice(start, end)
    const trimmed = piece.trim()
    if (trimmed.length < minUnits) continue
    const begins = start + piece.indexOf(trimmed.charAt(0))
    yield { text: trimmed, start: begins, end: begins + trimmed.length }
  }
}
