import type { CallText, Evidence } from '../call-text.ts'
import { decodeHidden, hiddenIn, type HiddenText } from './decode-hidden.ts'
import type { FoldedText } from '../fold-characters.ts'
import { foldedOf, foldText } from './fold-text.ts'
import { findGated, type GatedPattern } from '../gate/gated-pattern.ts'
import { wordStartsOf, type WordStarts } from '../gate/word-starts.ts'

/**
 * One way of saying something suspicious. `points` say how much it proves alone: 4 convicts, 2 needs company. Each family counts
 * once. Patterns run on folded text (see fold-text.ts), are global and have bounded repetitions only.
 */
export interface PhraseFamily {
  name: string
  points: number
  /**
   * Honest role play gives the model a manner too, and honest people write about lawlessness too: families of one aspect
   * alone convict nobody.
   */
  aspect?: 'manner' | 'subject'
  patterns: readonly GatedPattern[]
}

export interface Suspicion {
  /** 4 convict. */
  points: number
  /** Names of families, and of the encoding when they were hidden. */
  kinds: readonly string[]
  /** Where in the text: UTF-16 offsets. */
  hits: readonly { kind: string; start: number; end: number }[]
}

export const nothingSuspicious: Suspicion = { points: 0, kinds: [], hits: [] }

/** Families count together only where they stand near each other: a long book has a little of everything. */
const windowUnits = 4_000
/** One that repeats itself proves nothing more, and hostile text could repeat it a million times. */
const maxHitsOfPattern = 20
/** Who writes an attack in base64 knows what it is; escapes are written by honest writers of JSON. */
const hiddenPoints = ({ encoding }: HiddenText) => (encoding === 'escapes' ? 0 : 2)

interface Hit {
  family: PhraseFamily
  start: number
  end: number
}

/** Finds texts that another hides in ways of its own kind of document. */
type Reveal = (text: string) => readonly HiddenText[]

/** How suspicious a text is, read as it stands and decoded. */
export function suspect(text: string, families: readonly PhraseFamily[], reveal?: Reveal): Suspicion {
  return worstOf(text, foldText(text), decodeHidden(text), families, reveal)
}

/** The same of a text of a call, which other detectors read as well. */
export function suspectText(text: CallText, families: readonly PhraseFamily[], reveal?: Reveal): Suspicion {
  return worstOf(text.text, foldedOf(text), hiddenIn(text), families, reveal)
}

function worstOf(
  text: string,
  folded: FoldedText,
  decoded: readonly HiddenText[],
  families: readonly PhraseFamily[],
  reveal: Reveal = () => [],
): Suspicion {
  let worst = suspectFolded(folded, families)
  for (const hidden of [...decoded, ...reveal(text)]) {
    const inside = suspectFolded(foldText(hidden.text), families)
    const points = inside.points + hiddenPoints(hidden)
    if (inside.points === 0 || points <= worst.points) continue
    const { start, end, encoding } = hidden
    // Leetspeak in one word rewrites the whole text: only what was not there before is hidden.
    if (start === 0 && end === text.length && inside.points <= worst.points) continue
    worst = {
      points,
      kinds: [`hidden_${encoding}`, ...inside.kinds],
      hits: [{ kind: `hidden_${encoding}`, start, end }],
    }
  }
  return worst
}

function suspectFolded(folded: FoldedText, families: readonly PhraseFamily[]): Suspicion {
  const starts = wordStartsOf(folded.text)
  const hits = families
    .flatMap((family) => hitsOf(family, folded.text, starts))
    .sort((a, b) => a.start - b.start)
  const { first, last, points } = densest(hits)
  if (points === 0) return nothingSuspicious
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

function hitsOf(family: PhraseFamily, text: string, starts: WordStarts): Hit[] {
  return family.patterns.flatMap((pattern) =>
    findGated(text, starts, pattern, maxHitsOfPattern).map((match) => ({
      family,
      start: match.index,
      end: match.index + match[0].length,
    })),
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

/** 1 to 5, of points. */
export function valueOfPoints(points: number): number {
  if (points >= 6) return 5
  return Math.max(1, Math.min(4, points))
}

/** The places of a suspicion in the body that `where` is a piece of. */
export function evidenceOf(suspicion: Suspicion, where: CallText): Evidence[] {
  const { part, pointer, offset } = where
  return suspicion.hits.map(({ kind, start, end }) => ({
    part,
    pointer,
    start: offset + start,
    end: offset + end,
    kind,
  }))
}

/** The names of what was found, for a rationale: they quote nothing. */
export function namesOf({ kinds }: Suspicion): string {
  return kinds.map((kind) => kind.replaceAll('_', ' ')).join(', ')
}
