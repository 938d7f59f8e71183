import type { CallText } from '../call-text.ts'
import { findRepetition } from '../consumption/find-repetition.ts'
import { plantedFamilies } from '../injection/planted-families.ts'
import { suspectPhrases } from '../injection/suspect-material.ts'
import { discountGuidance } from '../injection/guides-people.ts'
import { discountMention } from '../phrases/is-mention.ts'
import { evidenceOf, namesOf, nothingSuspicious, type Suspicion } from '../phrases/suspect.ts'
import type { Detector } from '../verdict.ts'

/** Changes whenever the rules decide differently, so that scores name their rules. */
export const poisoningVersion = 'detector-7'

/**
 * Passages planted in search results and tool output to be believed: hidden text that addresses a model, and
 * prescribed answers. No finding proves nothing: a plain lie looks like any passage.
 */
export function createPoisoningDetector(): Detector {
  let worst = nothingSuspicious
  let where: CallText | undefined
  let hasContext = false
  let isStuffed = false
  return {
    read(text) {
      if (text.speaker !== 'tool') return
      hasContext = true
      isStuffed ||= findRepetition(text.text) !== 'none'
      const all = suspectPhrases(text)
      if (all.points <= worst.points || !isPlanted(all)) return
      const suspicion = discountGuidance(text.text, discountMention(text.text, all))
      if (suspicion.points > worst.points) [worst, where] = [suspicion, text]
    },
    finding() {
      if (!hasContext) return { reason: 'no_context', leaning: 1 }
      if (worst.points < 4 || where === undefined)
        return { reason: 'detectors_undecided', leaning: isStuffed ? 3 : 1 }
      const rationale = `A passage brought in by a tool or a search is planted: ${namesOf(worst)}.`
      const value = worst.points >= 6 ? 5 : 4
      return { value, rationale, contentFreeRationale: rationale, evidence: evidenceOf(worst, where) }
    },
  }
}

/** Signs of a planted belief, as opposed to an order. */
const plants = new Set(plantedFamilies.map(({ name }) => name))

function isPlanted({ kinds }: Suspicion): boolean {
  return kinds.some((kind) => plants.has(kind) || (kind.startsWith('hidden_') && kind !== 'hidden_leet'))
}
