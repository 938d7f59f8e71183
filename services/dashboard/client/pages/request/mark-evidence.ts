import type { Passage } from './read-blocks.ts'

/** A passage that a scorer refers to, as scores carry it. */
export interface Evidence {
  part: string
  pointer: string | null
  start: number
  end: number
  kind: string
}

export interface ScoredEvidence extends Evidence {
  scorer: string
}

/** A segment of a text and its evidence. `begins`: evidence that starts here. */
export interface Segment {
  text: string
  evidence: readonly ScoredEvidence[]
  begins: ScoredEvidence | undefined
}

/** A range of a text: start inclusive, end exclusive. */
export interface Stretch {
  start: number
  end: number
}

/** The evidence of a score. Other forms are only in the raw JSON. */
export function readEvidence(evidence: unknown): Evidence[] {
  return Array.isArray(evidence) ? evidence.filter(isEvidence) : []
}

function isEvidence(value: unknown): value is Evidence {
  if (typeof value !== 'object' || value === null) return false
  const { part, pointer, start, end, kind } = value as Record<string, unknown>
  return (
    typeof part === 'string' &&
    (typeof pointer === 'string' || pointer === null) &&
    typeof start === 'number' &&
    typeof end === 'number' &&
    typeof kind === 'string'
  )
}

export function isAt({ part, pointer }: Evidence, passage: Passage): boolean {
  return part === passage.part && pointer === passage.pointer
}

/** Initially shown units of a very long text: browsers take seconds to lay out megabytes. */
const shownAtFirst = 20_000
/** Units shown around evidence beyond that, and at either end of long evidence. */
const aroundUnits = 500
const evidenceUnits = 2_000
/** Maximum pieces of evidence per text; the raw JSON has the rest. */
const maxStretches = 50

/** What is initially shown: all of the text, or, if very long, its beginning and around evidence. */
export function chooseStretches(length: number, evidence: readonly Evidence[]): Stretch[] {
  if (length <= shownAtFirst) return [{ start: 0, end: length }]
  const wanted = evidence
    .filter(({ start, end }) => start >= shownAtFirst && start < length && end > start)
    .map(({ start, end }) => ({
      start: start - aroundUnits,
      end: Math.min(end, start + evidenceUnits, length - aroundUnits) + aroundUnits,
    }))
    .sort((one, other) => one.start - other.start)
    .slice(0, maxStretches)
  const stretches = [{ start: 0, end: shownAtFirst }]
  for (const { start, end } of wanted) {
    const last = stretches.at(-1)
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else stretches.push({ start, end })
  }
  return stretches
}

/** Splits a stretch where evidence begins or ends. Offsets beyond it are clamped. */
export function cutByEvidence(
  text: string,
  evidence: readonly ScoredEvidence[],
  { start: from, end: to }: Stretch = { start: 0, end: text.length },
): Segment[] {
  const inside = (offset: number) => Math.min(Math.max(offset, from), to)
  const cuts = [
    ...new Set([from, to, ...evidence.flatMap(({ start, end }) => [inside(start), inside(end)])]),
  ].sort((one, other) => one - other)
  return cuts.slice(1).map((end, index) => {
    const start = cuts[index] ?? 0
    const found = evidence.filter((each) => inside(each.start) <= start && inside(each.end) >= end)
    return {
      text: text.slice(start, end),
      evidence: found,
      begins: found.find((each) => Math.max(each.start, 0) === start),
    }
  })
}
