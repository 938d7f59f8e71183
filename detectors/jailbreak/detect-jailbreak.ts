import type { CallText } from '../call-text.ts'
import { findAdversarialSuffix } from './adversarial-suffix.ts'
import { createLinearModel, type Reading } from '../linear/linear-model.ts'
import { wordsOfRequests } from '../linear/shared-words.ts'
import modelFile from '../models/jailbreak.json' with { type: 'json' }
import {
  evidenceOf,
  namesOf,
  nothingSuspicious,
  suspectText,
  valueOfPoints,
  type Suspicion,
} from '../phrases/suspect.ts'
import { withoutCode } from '../without-code.ts'
import { discountMention } from '../phrases/is-mention.ts'
import type { Detector } from '../verdict.ts'
import { createLanguageCheck } from './known-language.ts'
import { phraseFamilies } from './phrase-families.ts'

const model = createLinearModel(modelFile, undefined, wordsOfRequests)

/** Changes whenever phrases or weights decide differently, so that scores name their rules. */
export const jailbreakVersion = `detector-9-${model.version}`
/** The model knows manners too, so an unsure model adds nothing to these. Honest role play has them. */
const manners = new Set(phraseFamilies.filter(({ aspect }) => aspect === 'manner').map(({ name }) => name))
const unread: Reading = { probability: 0, start: 0, end: 0 }
/** Longer texts are documents, whose end is no suffix of a request. */
const maxSuffixedUnits = 20_000
/** What the model finds convicts; at half that confidence it makes two signs of one. */
const [foundPoints, doubtfulPoints] = [4, 2]
/** One in sixteen training jailbreaks is shorter. In two sentences honest role play looks the same. */
const minUnits = 200
/**
 * Attempts by users, tools and search results to make the model break its rules. The operator's system prompt
 * may say such things; answers belong to other scorers. Safe only without any sign, in English, and if the
 * model is sure. That holds for 3 of 157 jailbreaks of the reporting half and for 87% of everyday prompts
 * (1,706 of 1,960).
 */
export function createJailbreakDetector(): Detector {
  let worst = nothingSuspicious
  let where: CallText | undefined
  let likeliest = 0
  let hasText = false
  let hasProgram = false
  const language = createLanguageCheck()
  return {
    read(text) {
      if (text.part !== 'request_body' || (text.speaker !== 'user' && text.speaker !== 'tool')) return
      if (text.text.trim() === '') return
      hasText = true
      language.read(text.text)
      const prose = withoutCode(text)
      hasProgram ||= prose !== text
      // The model knows prompts; comments of a program are none.
      const reading = prose === text ? model.readOf(text) : unread
      likeliest = Math.max(likeliest, reading.probability)
      const all = withSuffix(withModel(suspectText(prose, phraseFamilies), reading, prose.text), prose.text)
      const suspicion = discountMention(prose.text, all)
      if (suspicion.points > worst.points) [worst, where] = [suspicion, text]
    },
    finding() {
      const value = valueOfPoints(worst.points)
      if (!hasText) return { reason: 'no_text', leaning: 1 }
      // Of a program only the prose is read, which vouches for nothing.
      const isClear = !hasProgram && where === undefined && language.isKnown() && likeliest < model.clearBelow
      if (value < 4 && !isClear)
        return { reason: 'detectors_undecided', leaning: Math.min(3.9, value + likeliest * 0.9) }
      const rationale = describe(worst, where)
      const evidence = where === undefined ? [] : evidenceOf(worst, where)
      return { value, rationale, contentFreeRationale: rationale, evidence }
    },
  }
}

/** Combines phrases and model: jailbreaks in new words keep the manner. */
function withModel(suspicion: Suspicion, { probability, start, end }: Reading, text: string): Suspicion {
  if (probability < model.foundAt / 2) return suspicion
  const isFound = probability >= model.foundAt && text.length >= minUnits
  if (!isFound && suspicion.kinds.every((kind) => manners.has(kind)))
    return { ...suspicion, points: Math.max(suspicion.points, 1) }
  const points = isFound ? Math.max(suspicion.points, foundPoints) : suspicion.points + doubtfulPoints
  const kind = 'manner_of_jailbreaks'
  return {
    points,
    kinds: [...suspicion.kinds, kind],
    hits: suspicion.hits.length > 0 ? suspicion.hits : [{ kind, start, end }],
  }
}

function withSuffix(suspicion: Suspicion, text: string): Suspicion {
  const suffix = text.length > maxSuffixedUnits ? null : findAdversarialSuffix(text)
  if (suffix === null) return suspicion
  const kind = 'adversarial_suffix'
  return {
    points: suspicion.points + foundPoints,
    kinds: [...suspicion.kinds, kind],
    hits: [...suspicion.hits, { kind, ...suffix }],
  }
}

function describe(suspicion: Suspicion, where: CallText | undefined): string {
  if (where === undefined) return 'Nothing in the request tries to make the model leave its instructions.'
  const who = where.speaker === 'tool' ? 'The material brought in by a tool' : "The user's text"
  return `${who} shows: ${namesOf(suspicion)}.`
}
