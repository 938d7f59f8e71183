import type { CallText, Evidence } from '../call-text.ts'
import { decodeHidden, hiddenIn, type HiddenText } from './decode-hidden.ts'
import type { FoldedText } from '../fold-characters.ts'
import { foldedOf, foldText } from './fold-text.ts'
import { findGated, type GatedPattern } from '../gate/gated-pattern.ts'
import { wordStartsOf, type WordStarts } from '../gate/word-starts.ts'

/**
 * One way of saying something suspicious. `points`: how much it proves alone; 4 convicts, 2 needs support. A
 * family counts once. Patterns run on folded text (fold-text.ts), are global and have bounded repetitions.
 */
export interface PhraseFamily {
  name: string
  points: number
  /** Families of one aspect convict nobody: honest role play has the manner, honest reports the subject. */
  aspect?: 'manner' | 'subject'
  patterns: readonly GatedPattern[]
}

export interface Suspicion {
  /** 4 convict. */
  points: number
  /** Names of families, and of the encoding if hidden. */
  kinds: readonly string[]
  /** Locations in the text: UTF-16 offsets. */
  hits: readonly { kind: string; start: number; end: number }[]
}

export const nothingSuspicious: Suspicion = { points: 0, kinds: [], hits: [] }

/** Families count together only if near each other: a book has a little of everything. */
const windowUnits = 4_000
/** Repetition proves nothing more, and hostile text could repeat a phrase a million times. */
const maxHitsOfPattern = 20
/** Base64 is deliberate; honest writers of JSON use escapes too. */
const hiddenPoints = ({ encoding }: HiddenText) => (encoding === 'escapes' ? 0 : 2)

interface Hit {
  family: PhraseFamily
  start: number
  end: number
}

/** Finds hidden texts in one kind of document. */
type Reveal = (text: string) => readonly HiddenText[]

/** How suspicious a text is, as it stands and decoded. */
export function suspect(text: string, families: readonly PhraseFamily[], reveal?: Reveal): Suspicion {
  return worstOf(text, foldText(text), decodeHidden(text), families, reveal)
}

/** The same for a call's text, cached for other detectors. */
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
    // One word of leetspeak rewrites the whole text: only new findings are hidden.
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
  const hits = hitsOf(families, folded.text, starts).sort((a, b) => a.start - b.start)
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

/** Loops: of some hundred patterns a text matches none, mostly. */
function hitsOf(families: readonly PhraseFamily[], text: string, starts: WordStarts): Hit[] {
  const hits: Hit[] = []
  for (const family of families)
    for (const pattern of family.patterns)
      for (const { 0: match, index } of findGated(text, starts, pattern, maxHitsOfPattern))
        hits.push({ family, start: index, end: index + match.length })
  return hits
}

/** The stretch of `hits` (sorted by start) within one window with the highest weight. */
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

/** Points as a value from 1 to 5. */
export function valueOfPoints(points: number): number {
  if (points >= 6) return 5
  return Math.max(1, Math.min(4, points))
}

/** A decoded payload is a fact; words and models only estimate. */
export function isProof({ kinds }: Suspicion): boolean {
  return kinds.some(
    (kind) => kind.startsWith('hidden_') && kind !== 'hidden_leet' && kind !== 'hidden_escapes',
  )
}

/** A suspicion's evidence in the body that `where` is a piece of. */
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

/** Names of what was found, for a rationale; quotes nothing. */
export function namesOf({ kinds }: Suspicion): string {
  return kinds.map((kind) => kind.replaceAll('_', ' ')).join(', ')
}
