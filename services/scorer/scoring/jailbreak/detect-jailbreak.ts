import type { CallText } from '../call-text.ts'
import {
  evidenceOf,
  namesOf,
  nothingSuspicious,
  suspect,
  valueOfPoints,
  type Suspicion,
} from '../phrases/suspect.ts'
import type { Detector, Finding } from '../verdict.ts'
import { phraseFamilies } from './phrase-families.ts'

/** Phrases that decide differently get a new version, so that scores say which ones made them. */
export const jailbreakVersion = 'detector-1'

/**
 * Attempts to make the model leave its rules, in what users, tools and searches bring in. The operator's own system prompt may
 * say such things, and the model's answers are other scorers' business.
 */
export function createJailbreakDetector(): Detector<Finding> {
  let worst = nothingSuspicious
  let where: CallText | undefined
  return {
    read(text) {
      if (text.part !== 'request_body' || (text.speaker !== 'user' && text.speaker !== 'tool')) return
      const suspicion = suspect(text.text, phraseFamilies)
      if (suspicion.points > worst.points) [worst, where] = [suspicion, text]
    },
    finding() {
      const rationale = describe(worst, where)
      const evidence = where === undefined ? [] : evidenceOf(worst, where)
      return { value: valueOfPoints(worst.points), rationale, contentFreeRationale: rationale, evidence }
    },
  }
}

function describe(suspicion: Suspicion, where: CallText | undefined): string {
  if (where === undefined) return 'Nothing in the request tries to make the model leave its instructions.'
  const who = where.speaker === 'tool' ? 'The material brought in by a tool' : "The user's text"
  return `${who} shows: ${namesOf(suspicion)}.`
}
