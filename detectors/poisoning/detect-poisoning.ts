import { isToolCallRecord, toolCallsOf } from '#capture/tool-calls.ts'
import type { Call, CallText } from '../call-text.ts'
import { findRepetition } from '../consumption/find-repetition.ts'
import { materialOf } from '../context/material-of.ts'
import { discountGuidance } from '../injection/guides-people.ts'
import { plantedFamilies } from '../injection/planted-families.ts'
import { suspectPhrases } from '../injection/suspect-material.ts'
import { discountMention } from '../phrases/is-mention.ts'
import { discountReported } from '../phrases/is-reported.ts'
import {
  evidenceOf,
  isProof,
  namesOf,
  nothingSuspicious,
  suspectText,
  type Suspicion,
} from '../phrases/suspect.ts'
import type { Detector } from '../verdict.ts'
import { linkFamilies } from './link-families.ts'

/** Changes whenever the rules decide differently, so that scores name their rules. */
export const poisoningVersion = 'detector-8'

/** Tools that keep what they are given for later conversations. */
const keepsMemory =
  /(?:^|[^a-z])(?:mem0|memor(?:y|ies|i[sz]e)|remember|save_?(?:fact|note|preference)s?|add_?(?:fact|note|preference)s?)(?:$|[^a-z])/i
const argumentNames = new Set(['arguments', 'args', 'input', 'parameters'])

/**
 * `data_poisoning`. Looks for passages planted in search results, tool output and retrieved text to be
 * believed: hidden text that addresses a model, prescribed answers, beliefs to be kept; for rules that a call
 * writes into a memory; and for prompts of links ("summarise with AI") that name a source to be trusted for
 * ever. Mostly English; prescribed answers in eight languages. Does not look for plain lies, which look like
 * any passage, so no finding proves nothing.
 */
export function createPoisoningDetector(call: Call): Detector {
  let worst = nothingSuspicious
  let where: CallText | undefined
  let hasContext = false
  let isStuffed = false
  const isRecord = isToolCallRecord(call.request?.value)
  const writesMemory = toolCallsOf(call.request?.value, call.response?.value).some(({ name }) =>
    keepsMemory.test(name),
  )
  const consider = (suspicion: Suspicion, text: CallText) => {
    if (suspicion.points > worst.points) [worst, where] = [suspicion, text]
  }
  const readMaterial = (text: CallText) => {
    hasContext = true
    const all = suspectPhrases(text)
    if (all.points <= worst.points || !isPlanted(all)) return
    consider(discountGuidance(text.text, discountReported(text.text, discountMention(text.text, all))), text)
  }
  return {
    read(text) {
      for (const passage of materialOf(text)) {
        isStuffed ||= findRepetition(passage.text) !== 'none'
        readMaterial(passage)
      }
      if (text.speaker === 'user' && text.part === 'request_body')
        consider(suspectText(text, linkFamilies), text)
      if (writesMemory && text.speaker === 'assistant' && isArgument(text, isRecord)) readMaterial(text)
    },
    finding() {
      if (worst.points >= 4 && where !== undefined) {
        const rationale = `${sourceOf(where)} is planted: ${namesOf(worst)}.`
        const value = worst.points >= 6 ? 5 : 4
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
        ? { reason: 'detectors_undecided', leaning: isStuffed ? 3 : 1 }
        : { reason: 'no_context', leaning: 1 }
    },
  }
}

/** Arguments of the tool that writes, as text or as fields. */
function isArgument({ part, name, within }: CallText, isRecord: boolean): boolean {
  if (isRecord) return part === 'request_body'
  if (part !== 'response_body') return false
  if (argumentNames.has(name)) return true
  for (let path = within; path !== null; path = path.within) if (argumentNames.has(path.name)) return true
  return false
}

function sourceOf({ speaker }: CallText): string {
  if (speaker === 'assistant') return 'A rule written into a memory'
  return speaker === 'user' ? 'A request for lasting trust' : 'A passage brought in by a tool or a search'
}

/** Signs of a planted belief, as opposed to an order. */
const plants = new Set(plantedFamilies.map(({ name }) => name))

function isPlanted({ kinds }: Suspicion): boolean {
  return kinds.some((kind) => plants.has(kind) || (kind.startsWith('hidden_') && kind !== 'hidden_leet'))
}
