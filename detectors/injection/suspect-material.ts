import type { CallText } from '../call-text.ts'
import { createLinearModel } from '../linear/linear-model.ts'
import modelFile from '../models/injection.json' with { type: 'json' }
import { findMatches } from '../find-matches.ts'
import { onceForText } from '../once-for-text.ts'
import { suspect, suspectText, type Suspicion } from '../phrases/suspect.ts'
import { revealMarkup } from './hidden-markup.ts'
import { findOddTask } from './find-odd-task.ts'
import { injectionFamilies } from './injection-families.ts'
import { orderSigns } from './order-signs.ts'
import { splitSegments } from './split-segments.ts'
import { withoutCode } from '../without-code.ts'

const model = createLinearModel(modelFile, orderSigns)
export const orderModelVersion = model.version

/** Also normal between customers and colleagues. */
const ordinary = new Set(['gives_an_order', 'inserts_code', 'dangerous_code'])
/**
 * Families that convict alone, also between statements. Programs that talk to models have the tokens of
 * turns.
 */
const convicts = new Set(
  injectionFamilies
    .filter(({ points, name }) => points >= 4 && name !== 'forged_turn')
    .map(({ name }) => name),
)
/** There they only add to other signs. */
const familiesOfCode = injectionFamilies.map((family) =>
  ['forged_turn', 'dangerous_code'].includes(family.name) ? { ...family, points: 1 } : family,
)
/** A model has not learned what shorter ones mean: `using System;`. */
const minOrderWords = 5
/** Comments tell people and compilers what to do: fewer than one in 2,000 of them reaches this. */
const foundInCode = 0.9
/** So do manuals. */
const foundInManuals = 0.8
const shareInData = 0.65
/** A sentence found by the model convicts; at half that confidence it makes two signs of one. */
const [foundPoints, doubtfulPoints] = [4, 2]

/** How much retrieved text addresses the model: phrases, hidden text, sentences. 4 points convict. */
export function suspectMaterial(text: string): Suspicion {
  return withOrders(suspect(text, injectionFamilies, revealMarkup), text)
}

/** The same for a whole text. Cached, as several detectors read the same material. */
export const suspectRetrieved = onceForText((text: CallText): Suspicion => {
  const prose = withoutCode(text)
  return withOrders(suspectPhrases(text), prose.text, prose === text ? foundIn(text.text) : foundInCode)
})

const heading = /^#{1,6} \S/gm
const minHeadings = 3

/**
 * Records have sentences in few fields, and seldom orders: a lower bar finds more and convicts no more of
 * them.
 */
function foundIn(text: string): number {
  if (/^\s*["']?[[{]/.test(text)) return model.foundAt * shareInData
  return findMatches(text, heading, minHeadings).length < minHeadings ? model.foundAt : foundInManuals
}

/** The same for a passage of a prompt: people paste mails in which others are asked to act. */
export const suspectPassage = onceForText((text: CallText): Suspicion => {
  return withOrders(suspectPhrases(text), withoutCode(text).text, foundInCode)
})

/** Adds a task at the end of a tool's text. At the end of a user's message stands the user's own. */
export function withOddTask(suspicion: Suspicion, { text }: CallText): Suspicion {
  if (suspicion.points >= foundPoints) return suspicion
  const odd = findOddTask(text)
  if (odd === null) return suspicion
  const kind = 'unrelated_task'
  const { start, end } = odd
  return {
    points: foundPoints,
    kinds: [...suspicion.kinds, kind],
    hits: [...suspicion.hits, { kind, start, end }],
  }
}

/** Suspicion from phrases and hidden text. Cached: most of the work of the two detectors that use it. */
export const suspectPhrases = onceForText((text) => {
  const all = suspectText(text, injectionFamilies, revealMarkup)
  const prose = withoutCode(text)
  if (prose === text || all.points === 0 || isOfCode(all, text.text)) return all
  return suspectText(prose, familiesOfCode, revealMarkup)
})

/**
 * What is hidden in code, or convicts alone, counts wherever it stands: its lines can be cut short. So does
 * code that the reader is told to insert.
 */
function isOfCode({ kinds }: Suspicion, text: string): boolean {
  return (
    kinds.some((kind) => convicts.has(kind) || kind.startsWith('hidden_')) ||
    (kinds.includes('inserts_code') && kinds.includes('dangerous_code') && text.includes('```'))
  )
}

const startOfWord = /(?<!\S)[^\s\p{L}]{0,3}\p{L}/gu
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u

/** True for what has the words of a sentence. Orders are learned from sentences alone. */
export function isSentence(segment: string): boolean {
  return unspaced.test(segment) || findMatches(segment, startOfWord, minOrderWords).length >= minOrderWords
}

/**
 * Combines the sentence most like an order to an assistant with the phrases' suspicion. An order such as
 * "Please transfer …" needs no phrase of any family.
 */
function withOrders(suspicion: Suspicion, text: string, foundAt = model.foundAt): Suspicion {
  let order = { probability: 0, start: 0, end: 0 }
  for (const { text: segment, start, end } of splitSegments(text)) {
    if (!isSentence(segment)) continue
    const { probability } = model.read(segment)
    if (probability > order.probability) order = { probability, start, end }
  }
  const { probability, ...place } = order
  if (probability < foundAt / 2) return suspicion
  const kind = 'order_in_material'
  const isFound = probability >= foundAt
  // An unsure sentence alone is not enough: people's mail has such sentences.
  if (!isFound && suspicion.kinds.every((other) => ordinary.has(other)))
    return { ...suspicion, points: Math.max(suspicion.points, doubtfulPoints) }
  return {
    points: isFound ? Math.max(suspicion.points, foundPoints) : suspicion.points + doubtfulPoints,
    kinds: [...suspicion.kinds, kind],
    hits: [...suspicion.hits, { kind, ...place }],
  }
}
