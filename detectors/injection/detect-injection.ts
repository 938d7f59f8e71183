import type { CallText } from '../call-text.ts'
import { evidenceOf, namesOf, nothingSuspicious, valueOfPoints } from '../phrases/suspect.ts'
import { materialOf } from '../context/material-of.ts'
import { discountGuidance } from './guides-people.ts'
import { discountMention } from '../phrases/is-mention.ts'
import type { Detector } from '../verdict.ts'
import { orderModelVersion, suspectRetrieved, withOddTask } from './suspect-material.ts'

/** Changes whenever phrases or weights decide differently, so that scores name their rules. */
export const injectionVersion = `detector-8-${orderModelVersion}`

/**
 * `vector_weakness`: orders to the model in search results and tool output. Retrieved text inside a user
 * message is indistinguishable from the user's own and is not read. No finding proves nothing: an order can
 * be put in any words.
 */
export function createInjectionDetector(): Detector {
  let worst = nothingSuspicious
  let where: CallText | undefined
  let hasContext = false
  return {
    read(given) {
      for (const text of materialOf(given)) {
        hasContext = true
        const found = suspectRetrieved(text)
        const all = text === given ? withOddTask(found, text) : found
        const suspicion = discountGuidance(text.text, discountMention(text.text, all))
        if (suspicion.points > worst.points) [worst, where] = [suspicion, text]
      }
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
