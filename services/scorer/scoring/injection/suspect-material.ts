import type { CallText } from '../call-text.ts'
import { createLinearModel } from '../linear/linear-model.ts'
import modelFile from '../models/injection.json' with { type: 'json' }
import { onceForText } from '../once-for-text.ts'
import { suspect, suspectText, type Suspicion } from '../phrases/suspect.ts'
import { revealMarkup } from './hidden-markup.ts'
import { injectionFamilies } from './injection-families.ts'
import { orderSigns } from './order-signs.ts'
import { splitSegments } from './split-segments.ts'

const model = createLinearModel(modelFile, orderSigns)
export const orderModelVersion = model.version

/** What customers and colleagues write to each other as well. */
const ordinary = new Set(['gives_an_order', 'inserts_code'])
/** A sentence that the model finds convicts; half as sure, it makes two signs of one. */
const [foundPoints, doubtfulPoints] = [4, 2]

/** How much a passage of a text that was brought in speaks to the model: by phrases, by what it hides, by its sentences. 4 points convict. */
export function suspectMaterial(text: string): Suspicion {
  return withOrders(suspect(text, injectionFamilies, revealMarkup), text)
}

/** The same of all of it. */
export function suspectBrought(text: CallText): Suspicion {
  return withOrders(suspectPhrases(text), text.text)
}

/** What phrases and hidden text alone say. Two detectors ask, and reading it is most of what either does: each text is read once. */
export const suspectPhrases = onceForText((text) => suspectText(text, injectionFamilies, revealMarkup))

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
    return { ...suspicion, points: Math.max(suspicion.points, doubtfulPoints) }
  return {
    points: isFound ? Math.max(suspicion.points, foundPoints) : suspicion.points + doubtfulPoints,
    kinds: [...suspicion.kinds, kind],
    hits: [...suspicion.hits, { kind, ...place }],
  }
}
