import type { CallText } from '../call-text.ts'
import { materialOf } from '../context/material-of.ts'
import { discountMention } from '../phrases/is-mention.ts'
import { discountReported } from '../phrases/is-reported.ts'
import {
  evidenceOf,
  isProof,
  namesOf,
  nothingSuspicious,
  suspectText,
  valueOfPoints,
  type Suspicion,
} from '../phrases/suspect.ts'
import type { Detector } from '../verdict.ts'
import { findCarriedData } from './carried-data.ts'
import { discountReminders } from './discount-reminders.ts'
import { discountGuidance } from './guides-people.ts'
import { offerFamilies } from './offer-families.ts'
import { orderModelVersion, suspectPassage, suspectRetrieved, withOddTask } from './suspect-material.ts'

/** Changes whenever phrases or weights decide differently, so that scores name their rules. */
export const injectionVersion = `detector-9-${orderModelVersion}`

/**
 * A picture that carries data is what an order has led to, as certain as the order itself. 4 points convict.
 */
const carriedPoints = 4
/**
 * `vector_weakness`. Looks for orders to the model in tool results, retrieved passages and documents, also
 * inside prompts and their hidden text; for definitions of tools that fetch secrets, hide what they do or
 * bend other tools; for pictures and links of the answer that carry text out. Orders in the words of a model
 * are known in English, overrides and addresses in about 25 languages. Does not look for false facts, orders
 * without any of these marks in a passage that nothing marks as retrieved, or pictures drawn by chart
 * services. No finding proves nothing: an order can be put in any words.
 */
export function createInjectionDetector(): Detector {
  let worst = nothingSuspicious
  let where: CallText | undefined
  let hasContext = false
  const consider = (suspicion: Suspicion, text: CallText) => {
    if (suspicion.points > worst.points) [worst, where] = [suspicion, text]
  }
  return {
    read(given) {
      for (const text of materialOf(given)) {
        hasContext = true
        const isTools = text === given
        const all = isTools ? withOddTask(suspectRetrieved(text), text) : suspectPassage(text)
        consider(discount(text.text, all), text)
      }
      if (given.isOffer === true) consider(suspectText(given, offerFamilies), given)
      if (given.part === 'response_body' && given.speaker === 'assistant')
        consider(suspectAnswer(given), given)
    },
    finding() {
      const value = valueOfPoints(worst.points)
      if (value >= 4 && where !== undefined) {
        const rationale = `${sourceOf(where)}: ${namesOf(worst)}.`
        const isEstimate = !isProof(worst)
        const evidence = evidenceOf(worst, where)
        return {
          value,
          rationale,
          contentFreeRationale: rationale,
          evidence,
          ...(isEstimate ? { isEstimate } : {}),
        }
      }
      return hasContext
        ? { reason: 'detectors_undecided', leaning: value }
        : { reason: 'no_context', leaning: 1 }
    },
  }
}

/** What is said of attacks, or to people and an agent's own model, convicts nobody. */
function discount(text: string, suspicion: Suspicion): Suspicion {
  const discounts = [discountMention, discountReported, discountGuidance, discountReminders]
  return discounts.reduce((left, lower) => lower(text, left), suspicion)
}

function suspectAnswer(text: CallText): Suspicion {
  const hits = findCarriedData(text)
  return hits.length === 0
    ? nothingSuspicious
    : { points: carriedPoints, kinds: [...new Set(hits.map(({ kind }) => kind))], hits }
}

function sourceOf({ isOffer, part, speaker }: CallText): string {
  if (isOffer === true) return 'The definition of a tool gives orders beyond its use'
  if (part === 'response_body' && speaker === 'assistant') return 'The answer would carry data out'
  return 'Text brought in by a tool or a search speaks to the model'
}
