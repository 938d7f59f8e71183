import type { Passage } from './read-blocks.ts'

/** A passage that a scorer points at, as scores carry it. */
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

/** A stretch of a text and what points at it. */
export interface Segment {
  text: string
  evidence: readonly ScoredEvidence[]
}

/** The evidence of a score; what is in another form than ours is left to the raw JSON. */
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

/** Cuts a text where evidence begins or ends. Offsets beyond the text count as its end. */
export function cutByEvidence(text: string, evidence: readonly ScoredEvidence[]): Segment[] {
  const inside = (offset: number) => Math.min(Math.max(offset, 0), text.length)
  const cuts = [
    ...new Set([0, text.length, ...evidence.flatMap(({ start, end }) => [inside(start), inside(end)])]),
  ].sort((one, other) => one - other)
  return cuts.slice(1).map((end, index) => {
    const start = cuts[index] ?? 0
    return {
      text: text.slice(start, end),
      evidence: evidence.filter((each) => inside(each.start) <= start && inside(each.end) >= end),
    }
  })
}
