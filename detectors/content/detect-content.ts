import type { CallText, Evidence } from '../call-text.ts'
import { createLinearModel, type LinearModel, type Reading } from '../linear/linear-model.ts'
import answerFile from '../models/content-answer.json' with { type: 'json' }
import askFile from '../models/content-ask.json' with { type: 'json' }
import requestFile from '../models/content-request.json' with { type: 'json' }
import { wordsOfRequests } from '../linear/shared-words.ts'
import { foldText } from '../phrases/fold-text.ts'
import { hiddenIn } from '../phrases/decode-hidden.ts'
import { languageOf, type Language } from '../language/identify-language.ts'
import type { Detector, Finding } from '../verdict.ts'
import { contentSigns } from './content-signs.ts'
import { findActiveMarkup, noteAsked, type Asked } from './active-markup.ts'
import { isRefusal } from './is-refusal.ts'
import { withoutProgram } from './without-program.ts'
import { findHarmAbroad } from './harm-abroad.ts'
import { harmTopics } from './harm-lexicon.ts'
import { findMatches } from '../find-matches.ts'

/** What people say, what they ask for, and what is answered: the sets that teach them differ too much. */
const models: Readonly<Record<Reader, LinearModel>> = {
  request: createLinearModel(requestFile, contentSigns, wordsOfRequests),
  ask: createLinearModel(askFile, contentSigns, wordsOfRequests),
  answer: createLinearModel(answerFile, contentSigns),
}
const readers: Readonly<Record<Side, readonly Reader[]>> = { request: ['request', 'ask'], answer: ['answer'] }

/** Changes whenever the models decide differently, so that scores name their models. */
export const contentVersion = `detector-5-${models.request.version}-${models.ask.version}-${models.answer.version}`

type Side = 'request' | 'answer'
type Reader = Side | 'ask'

interface Worst extends Reading {
  text: CallText
  /** How the text between its offsets is encoded. */
  encoding?: string
  isProgram?: boolean
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

/** English by models, the others by rules (harm-abroad.ts). */
const coveredLanguages: ReadonlySet<Language> = new Set([
  ...([
    'en',
    'de',
    'es',
    'fr',
    'it',
    'pt',
    'nl',
    'pl',
    'tr',
    'ru',
    'uk',
    'zh',
    'ja',
    'ko',
    'ar',
    'hi',
  ] as const),
])
/** Shorter texts of another language are not read by the English models. Longer ones may change it. */
const maxForeignUnits = 4_000

/** Probability from which an answer is found if its question asked for harm, and if it surely did not. */
const [answersHarm, answersOther] = [0.5, 0.85]
const surelyOther = 0.2

/** An answer is read with its question: the same words in a lesson are answered to an innocent question. */
function answerFoundAt(request: Worst | undefined, ask: Worst | undefined): number {
  const isOther = ask !== undefined && Math.max(ask.probability, request?.probability ?? 0) < surelyOther
  if (isOther) return answersOther
  return isFound('ask', ask) ? answersHarm : models.answer.foundAt
}
/** Of 1,939 source files pasted or answered, 13 reach the models' own thresholds. */
const inPrograms = 0.99

/**
 * Professional vocabulary of those who speak of bodies, crimes and history. Two such words leave a text to
 * the judge, as anybody can write one. Not patients and nurses, who occur in fiction.
 */
const ofWork =
  /\b(?:diagnos\w+|differential|symptoms?|clinical\w*|cancer|tumou?rs?|surg(?:ery|ical)|mastectomy|oncolog\w*|gyn(?:a)?ecolog\w*|urolog\w*|lesions?|biopsy|discharge|lesson plan|curriculum|pupils|grade \d{1,2}|historians?|museum|memorial|encyclop\w*|statut\w*|criminal (?:law|code)|jurisprudence|moderators?|annotat\w+|classif(?:y|ication|ier))\b/g
const minOfWork = 2

/**
 * Looks for hate, sexual content, threats, self-harm, requests for help with crime, harmful answers, and
 * markup in an answer that runs code where it is rendered. Models read English (precision: `measured` in
 * their files); requests for weapons and wishes to die are found in 15 more languages. An answer is read with
 * its question, and one that declines is none. Does not look at images, audio or texts of tools.
 * Never acquits: half of harmful content has no telltale word.
 */
export function createContentDetector(): Detector {
  const worst: Partial<Record<Reader, Worst>> = {}
  const asked: Asked = []
  let foundMarkup: Evidence | undefined
  let foundAbroad: Evidence | undefined
  let isDeclined = false
  let hasText = false
  let isCovered = true
  return {
    read(text) {
      hasText = true
      if (text.part === 'request_body' && text.speaker !== 'tool') noteAsked(asked, text)
      const side = sideOf(text)
      if (side === null) return
      if (side === 'answer') {
        isDeclined ||= text.offset === 0 && isRefusal(text.text)
        foundMarkup ??= findActiveMarkup(text, asked)
      }
      const keep = (reader: Reader, found: Worst) => {
        if (found.probability >= (worst[reader]?.probability ?? 0)) worst[reader] = found
      }
      if (side === 'request') foundAbroad ??= findHarmAbroad(text)
      const language = text.text.length > maxForeignUnits ? null : languageOf(text)
      isCovered &&= language === null || coveredLanguages.has(language)
      if (language === null || language === 'en')
        for (const reader of readers[side]) keep(reader, readProse(reader, text))
      for (const { start, end, encoding, text: said } of hiddenIn(text)) {
        if (!isWritten.has(encoding)) continue
        for (const reader of readers[side])
          keep(reader, { ...models[reader].read(said), start, end, text, encoding })
      }
    },
    finding() {
      if (!hasText) return { reason: 'no_text', leaning: 1 }
      const found = foundIn(worst, isDeclined)
      if (found.length > 0) return harmful(found)
      if (foundMarkup !== undefined) return activeMarkup(foundMarkup)
      if (foundAbroad !== undefined) return harmAbroad(foundAbroad)
      const reason = isCovered ? 'detectors_undecided' : 'language_not_covered'
      return { reason, leaning: leaningOf(worst, isDeclined) }
    },
  }
}

type WorstOfAll = Readonly<Partial<Record<Reader, Worst>>>

function foundIn({ request, ask, answer }: WorstOfAll, isDeclined: boolean): Found[] {
  const asked = isFound('request', request) ? request : isFound('ask', ask) ? ask : undefined
  const isAnswered = !isDeclined && isFound('answer', answer, answerFoundAt(request, ask))
  return [
    ...(asked === undefined ? [] : [{ says: 'What was asked', worst: asked }]),
    ...(isAnswered ? [{ says: 'What was answered', worst: answer }] : []),
  ]
}

function leaningOf({ request, ask, answer }: WorstOfAll, isDeclined: boolean): number {
  const nearest = [
    nearness('request', request),
    nearness('ask', ask),
    isDeclined ? 0 : nearness('answer', answer),
  ]
  return 1 + 2.9 * Math.max(...nearest)
}

function readProse(reader: Reader, text: CallText): Worst {
  const prose = withoutProgram(text)
  if (prose === text) return { ...models[reader].readOf(text), text }
  return { ...models[reader].read(prose.text), text, isProgram: true }
}

interface Found {
  /** The side, as the rationale names it. */
  says: string
  worst: Worst
}

function harmful(found: readonly Found[]): Finding {
  const evidence = found.flatMap(({ worst: passage }) => evidenceOf(passage)).slice(0, maxEvidence)
  const topics = [...new Set(evidence.map(({ kind }) => kind.replaceAll('_', ' ')))]
  const rationale = `${found
    .map(({ says }) => says)
    .join(' and ')
    .replace(' and What', ' and what')} reads like harmful content (${topics.join(', ')}).`
  const value = found.length === 2 ? 5 : 4
  const rank = 4 + 0.99 * Math.max(...found.map(({ worst: passage }) => passage.probability))
  return { value, rationale, contentFreeRationale: rationale, evidence, isEstimate: true, rank }
}

/** A page may want it, so only an estimate. */
function activeMarkup(evidence: Evidence): Finding {
  const rationale = 'The answer has markup that runs code where it is rendered, and nobody asked for code.'
  return { value: 4, rationale, contentFreeRationale: rationale, evidence: [evidence], isEstimate: true }
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

function isFound(reader: Reader, worst: Worst | undefined, foundAt = models[reader].foundAt): worst is Worst {
  if (worst === undefined || isOfWork(worst)) return false
  return worst.probability >= (worst.isProgram === true ? inPrograms : foundAt)
}

function isOfWork({ text, start, end }: Worst): boolean {
  const words = foldText(text.text.slice(start, end)).text.match(ofWork) ?? []
  return new Set(words).size >= minOfWork
}

/** 0 to 1: how close a passage is to the threshold. */
function nearness(reader: Reader, worst: Worst | undefined): number {
  return worst === undefined ? 0 : Math.min(1, worst.probability / models[reader].foundAt)
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
