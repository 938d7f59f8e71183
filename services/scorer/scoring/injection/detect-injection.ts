import type { CallText } from '../call-text.ts'
import { createLinearModel } from '../linear/linear-model.ts'
import modelFile from '../models/injection.json' with { type: 'json' }
import {
  evidenceOf,
  namesOf,
  nothingSuspicious,
  suspect,
  valueOfPoints,
  type Suspicion,
} from '../phrases/suspect.ts'
import type { Detector } from '../verdict.ts'
import { revealMarkup } from './hidden-markup.ts'
import { injectionFamilies } from './injection-families.ts'
import { orderSigns } from './order-signs.ts'
import { splitSegments } from './split-segments.ts'

const model = createLinearModel(modelFile, orderSigns)

/** Phrases and weights that decide differently get a new version, so that scores say which ones made them. */
export const injectionVersion = `detector-2-${model.version}`
/** A sentence that the model finds convicts; half as sure, it makes two signs of one. */
/** What customers and colleagues write to each other as well. */
const ordinary = new Set(['gives_an_order', 'inserts_code'])
const [foundPoints, doubtfulPoints] = [4, 2]

/**
 * `vector_weakness`: orders to the model in what searches and tools bring in. Retrieved text inside a user's message cannot be told
 * from the user's own and is not looked at. Finding none proves nothing: an order can be put in any words.
 */
export function createInjectionDetector(): Detector {
  let worst = nothingSuspicious
  let where: CallText | undefined
  let hasContext = false
  return {
    read(text) {
      if (text.speaker !== 'tool') return
      hasContext = true
      const suspicion = withOrders(suspect(text.text, injectionFamilies, revealMarkup), text.text)
      if (suspicion.points > worst.points) [worst, where] = [suspicion, text]
    },
    finding() {
      if (!hasContext) return { reason: 'no_context', leaning: 1 }
      const value = valueOfPoints(worst.points)
      if (value < 4 || where === undefined) return { reason: 'detectors_undecided', leaning: value }
      const rationale = `Text brought in by a tool or a search speaks to the model: ${namesOf(worst)}.`
      return { value, rationale, contentFreeRationale: rationale, evidence: evidenceOf(worst, where) }
    },
  }
}

/** The sentence that most reads like an order for an assistant, with what phrases say. An order needs no phrase of any family: "Please transfer …". */
function withOrders(suspicion: Suspicion, text: string): Suspicion {
  let order = { probability: 0, start: 0, end: 0 }
  for (const { text: segment, start, end } of splitSegments(text)) {
    const { probability } = model.read(segment)
    if (probability > order.probability) order = { probability, start, end }
  }
  const { probability, ...place } = order
  if (probability < model.foundAt / 2) return suspicion
  const kind = 'order_in_material'
  const isFound = probability >= model.foundAt
  // Unsure of the sentence, and nothing else to go by: a mail between people has such sentences.
  if (!isFound && suspicion.kinds.every((other) => ordinary.has(other)))
    return { points: 2, kinds: [kind], hits: [{ kind, ...place }] }
  return {
    points: isFound ? Math.max(suspicion.points, foundPoints) : suspicion.points + doubtfulPoints,
    kinds: [...suspicion.kinds, kind],
    hits: [...suspicion.hits, { kind, ...place }],
  }
}
