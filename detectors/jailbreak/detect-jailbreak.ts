import type { Call, CallText } from '../call-text.ts'
import { materialOf } from '../context/material-of.ts'
import { suspectPassage } from '../injection/suspect-material.ts'
import { createLinearModel, type Reading } from '../linear/linear-model.ts'
import { wordsOfRequests } from '../linear/shared-words.ts'
import modelFile from '../models/jailbreak.json' with { type: 'json' }
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
import { withoutCode } from '../without-code.ts'
import { findAdversarialSuffix } from './adversarial-suffix.ts'
import { secretAsked } from './asks-for-secret.ts'
import { discountCorrection } from './is-correction.ts'
import { createLanguageCheck } from './known-language.ts'
import { discountStories, withModel } from './manner-of-jailbreaks.ts'
import { mayBeEncoded } from './may-be-encoded.ts'
import { phraseFamilies } from './phrase-families.ts'
import { findScriptedTurns } from './scripted-turns.ts'
import { discountPromptWriting } from './writes-prompts.ts'

const model = createLinearModel(modelFile, undefined, wordsOfRequests)

/** Changes whenever phrases or weights decide differently, so that scores name their rules. */
export const jailbreakVersion = `detector-10-${model.version}`
const unread: Reading = { probability: 0, start: 0, end: 0 }
/** Longer texts are documents, whose end is no suffix of a request. */
const maxSuffixedUnits = 20_000
const foundPoints = 4
/** In a program's comments only what addresses a model counts: manner and subject are of any story. */
const familiesOfCode = phraseFamilies.filter(({ aspect }) => aspect === undefined)
/** Rules of the operator. Whether a question gets round them, its words alone do not tell. */
const restricts =
  /\b(?:do not|don'?t|never|under no circumstances|must not|not (?:allowed|programmed|permitted)|avoid|refuse|strictly|only (?:answer|share|discuss|talk|respond))\b/i

/**
 * `jailbreak_detection`. Looks for attempts by users, tools and documents to make the model break its rules:
 * overrides in about 30 languages, known jailbreaks, roles without rules, their manner in English,
 * adversarial suffixes, orders planted in passages that a user pasted, and questions for a secret that the
 * operator told the model to keep. Does not look for: questions that get round an operator's rule in plain
 * words, attempts spread over several turns, stories for harmful ends without the manner of jailbreaks,
 * encodings that it cannot decode. The operator's system prompt may say such things; answers belong to other
 * scorers. Safe only in English, without any sign, passage or rule of the operator, and if the model is sure.
 */
export function createJailbreakDetector(call: Call): Detector {
  let worst = nothingSuspicious
  let where: CallText | undefined
  let likeliest = 0
  let hasText = false
  let isBeyondWords = false
  const language = createLanguageCheck()
  const system = systemOf(call)
  const isRestricted = restricts.test(system)
  const findSecret = secretAsked(system)
  const consider = (suspicion: Suspicion, text: CallText) => {
    if (suspicion.points > worst.points) [worst, where] = [suspicion, text]
  }
  return {
    read(text) {
      if (text.part !== 'request_body' || (text.speaker !== 'user' && text.speaker !== 'tool')) return
      if (text.text.trim() === '') return
      hasText = true
      const prose = withoutCode(text)
      if (prose === text) language.read(text)
      // The model knows prompts; comments of a program are none.
      const reading = prose === text ? model.readOf(text) : unread
      likeliest = Math.max(likeliest, reading.probability)
      isBeyondWords ||= prose !== text || mayBeEncoded(text.text)
      const said = prose === text ? suspectProse(prose, reading) : suspectText(prose, familiesOfCode)
      consider(discount(prose.text, said, text.speaker), text)
      if (text.speaker === 'tool') return
      for (const passage of materialOf(text)) {
        isBeyondWords = true
        consider(discountMention(passage.text, suspectPassage(passage)), passage)
      }
      consider(asking(findSecret?.(text.text)), text)
    },
    finding() {
      const value = valueOfPoints(worst.points)
      if (!hasText) return { reason: 'no_text', leaning: 1 }
      const isClear =
        !isBeyondWords &&
        !isRestricted &&
        where === undefined &&
        language.isKnown() &&
        likeliest < model.clearBelow
      if (value < 4 && !isClear) {
        const reason =
          where === undefined && !language.isCovered() ? 'language_not_covered' : 'detectors_undecided'
        return { reason, leaning: Math.min(3.9, value + likeliest * 0.9) }
      }
      const rationale = describe(worst, where)
      const evidence = where === undefined ? [] : evidenceOf(worst, where)
      const isEstimate = value >= 4 && !isProof(worst)
      return {
        value,
        rationale,
        contentFreeRationale: rationale,
        evidence,
        ...(isEstimate ? { isEstimate } : {}),
      }
    },
  }
}

function asking(secret: { start: number; end: number } | null | undefined): Suspicion {
  if (secret === null || secret === undefined) return nothingSuspicious
  const kind = 'asks_for_the_secret'
  return { points: foundPoints, kinds: [kind], hits: [{ kind, ...secret }] }
}

const maxSystemUnits = 20_000

function systemOf({ texts }: Call): string {
  const said = texts.filter(
    ({ speaker, part, isOffer }) => speaker === 'system' && part === 'request_body' && isOffer !== true,
  )
  return said
    .map(({ text }) => text)
    .join('\n')
    .slice(0, maxSystemUnits)
}

function suspectProse(text: CallText, reading: Reading): Suspicion {
  const suspicion = withModel(
    discountStories(suspectText(text, phraseFamilies)),
    reading,
    model.foundAt,
    text.text,
  )
  return withFound(suspicion, text.text)
}

/** What is said of attacks, forbidden, corrected or written for a bot convicts nobody. */
function discount(text: string, suspicion: Suspicion, speaker: CallText['speaker']): Suspicion {
  const said = discountReported(text, discountMention(text, suspicion))
  return speaker === 'user' ? discountPromptWriting(text, discountCorrection(text, said)) : said
}

function withFound(suspicion: Suspicion, text: string): Suspicion {
  const suffix = text.length > maxSuffixedUnits ? null : findAdversarialSuffix(text)
  const found = [
    { kind: 'adversarial_suffix', place: suffix },
    { kind: 'scripted_turns', place: findScriptedTurns(text) },
  ].flatMap(({ kind, place }) => (place === null ? [] : [{ kind, ...place }]))
  return {
    points: suspicion.points + foundPoints * found.length,
    kinds: [...suspicion.kinds, ...found.map(({ kind }) => kind)],
    hits: [...suspicion.hits, ...found],
  }
}

function describe(suspicion: Suspicion, where: CallText | undefined): string {
  if (where === undefined) return 'Nothing in the request tries to make the model leave its instructions.'
  const who = where.speaker === 'tool' ? 'The material brought in by a tool' : "The user's text"
  return `${who} shows: ${namesOf(suspicion)}.`
}
