import { maskIdentifiers } from '#detectors/pii/detect-pii.ts'
import type { Call, Evidence } from '#detectors/call-text.ts'
import type { CustomScorer } from '../scoring/custom/custom-scorer.ts'
import { searchablesOf, type Searchable } from '../scoring/custom/searchable.ts'

/** A passage that a scorer found. */
export interface MatchedText {
  part: Evidence['part']
  pointer: string | null
  kind: string
  text: string
}

const maxMatches = 3
const maxUnits = 200

/** The first passages, identifiers masked. `scorer` null: quotes of the judge. */
export function matchedTexts(
  call: Call,
  evidence: readonly Evidence[],
  scorer: CustomScorer | null,
): MatchedText[] {
  const textOf = scorer === null ? quotedIn(call) : foundBy(scorer, call)
  return evidence.slice(0, maxMatches).map((place) => {
    const { part, pointer, kind } = place
    return { part, pointer, kind, text: maskIdentifiers(textOf(place)).slice(0, maxUnits).toWellFormed() }
  })
}

function quotedIn({ texts }: Call): (place: Evidence) => string {
  return ({ part, pointer, start, end }) =>
    texts
      .find((text) => text.part === part && text.pointer === pointer)
      ?.text.slice(start, Math.min(end, start + 2 * maxUnits)) ?? ''
}

/** Several texts may stand at one pointer (JSON inside a string): the one in which the scorer finds it. */
function foundBy(scorer: CustomScorer, call: Call): (place: Evidence) => string {
  const texts = searchablesOf(call)(scorer.matchOn)
  const holds = (text: Searchable, { start, end }: Evidence) =>
    scorer.find(text).some((found) => placeIn(text, found.start) === start || found.end === end)
  return (place) => {
    const { part, pointer, start, end } = place
    const there = texts.filter(
      (text) =>
        text.part === part &&
        text.pointer === pointer &&
        text.offset <= start &&
        start < text.offset + Math.max(1, text.text.length),
    )
    const text = there.length > 1 ? (there.find((one) => holds(one, place)) ?? there[0]) : there[0]
    if (text === undefined) return ''
    // A list of words is found at its first word: the whole line says more.
    if (text.firstWordUnits !== undefined) return text.text.slice(0, 2 * maxUnits)
    return text.whole.text.slice(start, Math.min(end, start + 2 * maxUnits))
  }
}

function placeIn({ offset, firstWordUnits }: Searchable, start: number): number {
  return firstWordUnits === undefined ? offset + start : 0
}
