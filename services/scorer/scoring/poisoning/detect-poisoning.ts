import type { CallText } from '../call-text.ts'
import { isLoop } from '../consumption/find-repetition.ts'
import { revealMarkup } from '../injection/hidden-markup.ts'
import { injectionFamilies } from '../injection/injection-families.ts'
import { evidenceOf, namesOf, nothingSuspicious, suspect, type Suspicion } from '../phrases/suspect.ts'
import type { Detector } from '../verdict.ts'

/** Rules that decide differently get a new version, so that scores say which rules made them. */
export const poisoningVersion = 'detector-2'

/**
 * Passages planted to be found and believed, in what searches and tools bring in: text hidden from people that speaks to a model, and
 * answers prescribed for questions. A planted lie in plain words looks like any passage: finding nothing proves nothing.
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
      isStuffed ||= isLoop(text.text)
      const suspicion = suspect(text.text, injectionFamilies, revealMarkup)
      if (suspicion.points > worst.points && isPlanted(suspicion)) [worst, where] = [suspicion, text]
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

function isPlanted({ kinds }: Suspicion): boolean {
  return kinds.some(
    (kind) => kind === 'answer_on_demand' || (kind.startsWith('hidden_') && kind !== 'hidden_leet'),
  )
}
