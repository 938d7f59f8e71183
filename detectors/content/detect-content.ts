import type { CallText, Evidence } from '../call-text.ts'
import { createLinearModel, type LinearModel, type Reading } from '../linear/linear-model.ts'
import answerFile from '../models/content-answer.json' with { type: 'json' }
import requestFile from '../models/content-request.json' with { type: 'json' }
import { wordsOfRequests } from '../linear/shared-words.ts'
import { foldText } from '../phrases/fold-text.ts'
import { hiddenIn } from '../phrases/decode-hidden.ts'
import type { Detector, Finding } from '../verdict.ts'
import { contentSigns } from './content-signs.ts'
import { findHarmAbroad } from './harm-abroad.ts'
import { harmTopics } from './harm-lexicon.ts'
import { findMatches } from '../find-matches.ts'

const models: Readonly<Record<Side, LinearModel>> = {
  request: createLinearModel(requestFile, contentSigns, wordsOfRequests),
  answer: createLinearModel(answerFile, contentSigns),
}

/** Changes whenever the models decide differently, so that scores name their models. */
export const contentVersion = `detector-4-${models.request.version}-${models.answer.version}`

type Side = 'request' | 'answer'

interface Worst extends Reading {
  text: CallText
  /** How the text between its offsets is encoded. */
  encoding?: string
}

/** Encodings that nobody uses by chance. Leetspeak in one word would make every text be read twice. */
const isWritten = new Set<string>([
  'base64',
  'hex',
  'tags',
  'selectors',
  'bits',
  'morse',
  'spelled',
  'rot13',
  'reversed',
  'codes',
])

const maxEvidence = 20
/** How a refusal begins. It often repeats what it refuses, which is no failure. */
const declines =
  /^\W{0,5}(?:(?:oh|hi|hello|hey|well|thank you[^.!\n]{0,60})[,.!\s]{1,3})?(?:i(?:'m| am)(?: really| very| truly| so)? sorry|sorry,|i apologi[sz]e|i (?:can(?:'|no)t|can not|won't|will not|am unable|am not able|must decline|do not feel comfortable)|i'm (?:unable|not able)|as an ai\b)/i

/**
 * Professional vocabulary of those who speak of bodies, crimes and history. Two such words leave a text to
 * the judge, as anybody can write one. Not patients and nurses, who occur in fiction.
 */
const ofWork =
  /\b(?:diagnos\w+|differential|symptoms?|clinical\w*|cancer|tumou?rs?|surg(?:ery|ical)|mastectomy|oncolog\w*|gyn(?:a)?ecolog\w*|urolog\w*|lesions?|biopsy|discharge|lesson plan|curriculum|pupils|grade \d{1,2}|historians?|museum|memorial|encyclop\w*|statut\w*|criminal (?:law|code)|jurisprudence|moderators?|annotat\w+|classif(?:y|ication|ier))\b/g
const minOfWork = 2

/**
 * Judges requests and answers separately. Convicts where a trained model reached its required precision on
 * held-out texts (`measured` in its file). Never acquits: half of harmful content has no telltale word.
 */
export function createContentDetector(): Detector {
  const worst: Partial<Record<Side, Worst>> = {}
  let foundAbroad: Evidence | undefined
  let isDeclined = false
  let hasText = false
  return {
    read(text) {
      hasText = true
      const side = sideOf(text)
      if (side === null) return
      if (side === 'answer')
        isDeclined ||= text.offset === 0 && declines.test(foldText(text.text.slice(0, 200)).text)
      const reading = models[side].readOf(text)
      if (reading.probability >= (worst[side]?.probability ?? 0)) worst[side] = { ...reading, text }
      if (side === 'request') foundAbroad ??= findHarmAbroad(text)
      for (const { start, end, encoding, text: said } of hiddenIn(text)) {
        if (!isWritten.has(encoding)) continue
        const { probability } = models[side].read(said)
        if (probability > (worst[side]?.probability ?? 0))
          worst[side] = { probability, start, end, text, encoding }
      }
    },
    finding() {
      const { request, answer } = worst
      if (!hasText) return { reason: 'no_text', leaning: 1 }
      const found = [
        ...(isFound('request', request) ? [{ says: 'What was asked', worst: request }] : []),
        ...(!isDeclined && isFound('answer', answer) ? [{ says: 'What was answered', worst: answer }] : []),
      ]
      if (found.length === 0 && foundAbroad !== undefined) return harmAbroad(foundAbroad)
      if (found.length === 0)
        return {
          reason: 'detectors_undecided',
          leaning:
            1 + 2.9 * Math.max(nearness('request', request), isDeclined ? 0 : nearness('answer', answer)),
        }
      const evidence = found.flatMap(({ worst: passage }) => evidenceOf(passage)).slice(0, maxEvidence)
      const topics = [...new Set(evidence.map(({ kind }) => kind.replaceAll('_', ' ')))]
      const rationale = `${found
        .map(({ says }) => says)
        .join(' and ')
        .replace(' and What', ' and what')} reads like harmful content (${topics.join(', ')}).`
      const value = found.length === 2 ? 5 : 4
      const rank = 4 + 0.99 * Math.max(...found.map(({ worst: passage }) => passage.probability))
      return { value, rationale, contentFreeRationale: rationale, evidence, isEstimate: true, rank }
    },
  }
}

/** An estimate: fiction and lessons say this too, and a judge reads every language. */
function harmAbroad(evidence: Evidence): Finding {
  const rationale = `What was asked reads like harmful content (${evidence.kind.replaceAll('_', ' ')}).`
  return { value: 4, rationale, contentFreeRationale: rationale, evidence: [evidence], isEstimate: true }
}

/** Retrieved material is nobody's request. */
function sideOf({ part, speaker }: CallText): Side | null {
  if (part === 'request_body') return speaker === 'user' ? 'request' : null
  return speaker === 'assistant' ? 'answer' : null
}

function isFound(side: Side, worst: Worst | undefined): worst is Worst {
  return worst !== undefined && worst.probability >= models[side].foundAt && !isOfWork(worst)
}

function isOfWork({ text, start, end }: Worst): boolean {
  const words = foldText(text.text.slice(start, end)).text.match(ofWork) ?? []
  return new Set(words).size >= minOfWork
}

/** 0 to 1: how close a passage is to the threshold. */
function nearness(side: Side, worst: Worst | undefined): number {
  return worst === undefined ? 0 : Math.min(1, worst.probability / models[side].foundAt)
}

/** The lexicon's words in the passage, or the whole passage if it has none. */
function evidenceOf({ text, start, end, encoding }: Worst): Evidence[] {
  const { part, pointer, offset } = text
  const folded = foldText(text.text.slice(start, end))
  const at = (from: number, to: number, kind: string): Evidence => ({
    part,
    pointer,
    start: offset + start + from,
    end: offset + start + to,
    kind,
  })
  if (encoding !== undefined) return [at(0, end - start, `hidden_${encoding}`)]
  const words = harmTopics.flatMap(({ name, pattern }) =>
    findMatches(folded.text, pattern.pattern, 5).map((match) =>
      at(folded.originOf(match.index), folded.originOf(match.index + match[0].length), name),
    ),
  )
  return words.length > 0 ? words : [at(0, end - start, 'harmful_text')]
}
