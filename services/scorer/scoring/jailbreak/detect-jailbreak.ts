import type { CallText, Evidence } from '../call-text.ts'
import type { Detector } from '../verdict.ts'
import { decodeHidden } from './decode-hidden.ts'
import { foldText } from './fold-text.ts'
import { phraseFamilies, type PhraseFamily } from './phrase-families.ts'

/** Phrases that decide differently get a new version, so that scores say which ones made them. */
export const jailbreakVersion = 'detector-1'

/** Families count together only where they stand near each other: a long book has a little of everything. */
const windowUnits = 4_000
/** One that repeats itself proves nothing more, and hostile text could repeat it a million times. */
const mostHitsOfPattern = 20
/** Who writes a jailbreak in base64 knows what it is. */
const hiddenPoints = 2

interface Hit {
  family: PhraseFamily
  start: number
  end: number
}

interface Suspicion {
  points: number
  /** Names of families, and of the encoding when they were hidden. */
  kinds: readonly string[]
  hits: readonly { kind: string; start: number; end: number }[]
}

const nothing: Suspicion = { points: 0, kinds: [], hits: [] }

/**
 * Attempts to make the model leave its rules, in what users, tools and searches bring in. The operator's own system prompt may
 * say such things, and the model's answers are other scorers' business.
 */
export function createJailbreakDetector(): Detector {
  let worst = nothing
  let where: CallText | undefined
  return {
    read(text) {
      if (text.part !== 'request_body' || (text.speaker !== 'user' && text.speaker !== 'tool')) return
      const suspicion = suspect(text.text)
      if (suspicion.points > worst.points) [worst, where] = [suspicion, text]
    },
    finding() {
      const rationale = describe(worst, where)
      const value = valueOf(worst.points)
      return { value, rationale, contentFreeRationale: rationale, evidence: evidenceOf(worst, where) }
    },
  }
}

function describe({ kinds }: Suspicion, where: CallText | undefined): string {
  if (where === undefined) return 'Nothing in the request tries to make the model leave its instructions.'
  const who = where.speaker === 'tool' ? 'The material brought in by a tool' : "The user's text"
  return `${who} shows: ${kinds.map(readable).join(', ')}.`
}

/** How strongly one text looks like a jailbreak: 4 points convict. */
function suspect(text: string): Suspicion {
  let worst = suspectPlain(text)
  for (const hidden of decodeHidden(text)) {
    const inside = suspectPlain(hidden.text)
    if (inside.points === 0 || inside.points + hiddenPoints <= worst.points) continue
    const { start, end, encoding } = hidden
    // Leetspeak in one word rewrites the whole text: only what was not there before is hidden.
    if (start === 0 && end === text.length && inside.points <= worst.points) continue
    worst = {
      points: inside.points + hiddenPoints,
      kinds: [`hidden_${encoding}`, ...inside.kinds],
      hits: [{ kind: `hidden_${encoding}`, start, end }],
    }
  }
  return worst
}

function suspectPlain(text: string): Suspicion {
  const folded = foldText(text)
  const hits = phraseFamilies
    .flatMap((family) => hitsOf(family, folded.text))
    .sort((a, b) => a.start - b.start)
  const { first, last, points } = densest(hits)
  if (points === 0) return nothing
  const near = hits.slice(first, last + 1)
  return {
    points,
    kinds: [...new Set(near.map(({ family }) => family.name))],
    hits: near.map(({ family, start, end }) => ({
      kind: family.name,
      start: folded.originOf(start),
      end: folded.originOf(end),
    })),
  }
}

function hitsOf(family: PhraseFamily, text: string): Hit[] {
  return family.patterns.flatMap((pattern) =>
    text
      .matchAll(pattern)
      .take(mostHitsOfPattern)
      .map((match) => ({ family, start: match.index, end: match.index + match[0].length }))
      .toArray(),
  )
}

/** The stretch of `hits` (in order of start) within one window that weighs most. */
function densest(hits: readonly Hit[]): { first: number; last: number; points: number } {
  let best = { first: 0, last: -1, points: 0 }
  let first = 0
  for (const [last, hit] of hits.entries()) {
    while (hit.start - (hits[first]?.start ?? 0) > windowUnits) first += 1
    const points = weigh(new Set(hits.slice(first, last + 1).map(({ family }) => family)))
    if (points > best.points) best = { first, last, points }
  }
  return best
}

function weigh(families: ReadonlySet<PhraseFamily>): number {
  const points = Array.from(families).reduce((sum, family) => sum + family.points, 0)
  const aspects = new Set(Array.from(families, ({ aspect }) => aspect))
  return aspects.size === 1 && !aspects.has(undefined) ? Math.min(points, 3) : points
}

function valueOf(points: number): number {
  if (points >= 6) return 5
  return Math.max(1, Math.min(4, points))
}

function evidenceOf(suspicion: Suspicion, where: CallText | undefined): Evidence[] {
  if (where === undefined) return []
  const { part, pointer, offset } = where
  return suspicion.hits.map(({ kind, start, end }) => ({
    part,
    pointer,
    start: offset + start,
    end: offset + end,
    kind,
  }))
}

function readable(kind: string): string {
  return kind.replaceAll('_', ' ')
}
