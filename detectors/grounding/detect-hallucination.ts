import { isToolCallRecord } from '#capture/tool-calls.ts'
import { identifyLanguage } from '../language/identify-language.ts'
import { firstNames } from '../along-names.ts'
import type { Call, CallText } from '../call-text.ts'
import { materialOf } from '../context/material-of.ts'
import type { Detector } from '../verdict.ts'
import { createMaterial, type Comparison } from './compare-answer.ts'
import { isEnglish } from './measure-support.ts'

/** Changes whenever the rules decide differently, so that scores name their rules. */
export const hallucinationVersion = 'detector-3'

/** Shorter answers are courtesies; longer ones go beyond the supplied text. */
const minContentWords = 5
const maxContentWords = 120
/** Share of content words without a source above which an answer cannot come from the supplied text. */
const unsupported = 0.6
/** Names and numbers from nowhere, in an answer whose words are mostly from nowhere too. */
const [minInvented, minMissing] = [4, 0.4]
/** A denied clause in an answer that otherwise has the text's own words. */
const [minContradictions, maxOtherWords] = [1, 0.35]
/** Longer answers may calculate. */
const [maxChangedWords, maxChangedLength] = [0.5, 30]
const maxAnswerUnits = 20_000
const askedUnits = 1_000
const noClaim =
  /\b(?:sorry|apologi[sz]e|cannot|can't|could not|couldn't|unable|don't (?:have|know)|do not (?:have|know)|no information|not (?:mentioned|specified|provided|stated|available)|let me|would you like|how can i|as an ai|i(?:'ll| will| am going to|'m going to)|you(?:'re| are) (?:very |most )?welcome|happy to (?:help|assist))\b|```|^[^.!?\n]*\?\s*$/i
/** Requests for invention, advice or calculation, whose answers need not stand in any text. */
const ownWork =
  /\b(?:write|draft|compose|invent|imagine|pretend|role-?play|make up|create|design|brainstorm|suggest|recommend|(?:ideas?|tips?|advice|names?) (?:for|on|to)|your opinion|(?:tell|give) me an? \w{0,12}\s?(?:joke|riddle|poem|story|tale)|haiku|translate|rephrase|rewrite|simplify|classify|categori[sz]e|sentiment|(?:python|sql|regex|bash|javascript|typescript)|implement|refactor|debug|fix (?:the|this|my)|remind me|schedule|(?:different|another|new) (?:question|topic))\b/i

/**
 * Whether the answer's words come from the supplied or retrieved text. Convicts English answers that have
 * almost none of it. Never acquits: a changed number or an added "not" keeps all the right words.
 */
export function createHallucinationDetector(call: Call): Detector {
  const isRetrieved = createRetrievedCheck()
  const isRecord = isToolCallRecord(call.request?.value)
  const hasContext = !isRecord && call.texts.some((text) => isRetrieved(text) || isSupplied(text))
  const mayHoldContext = !isRecord && isLongPrompt(call)
  let promptUnits = 0
  const material = createMaterial()
  let suppliedSample = ''
  let asked = ''
  let answer = ''
  let answerText: CallText | undefined
  return {
    read(text) {
      if (!hasContext) return
      if (text.part === 'request_body') {
        const brought = isRetrieved(text) ? [text] : isSupplied(text) ? materialOf(text) : []
        for (const passage of brought) {
          if (passage !== text) promptUnits += passage.text.length
          material.addSupplied(passage.text)
          if (suppliedSample.length < 2_000) suppliedSample += ` ${passage.text.slice(0, 2_000)}`
        }
        // A prompt with passages counts as both: what its own words say is no invention either.
        if (brought[0] !== text) material.addRest(text.text)
        if (text.speaker === 'user') asked = text.text
      } else if (text.speaker === 'assistant' && answer.length < maxAnswerUnits) {
        answerText ??= text
        answer += `${answer === '' ? '' : '\n'}${text.text}`
      }
    },
    finding() {
      if (!hasContext || material.words() === 0)
        return { reason: 'no_context', leaning: 1, ...(mayHoldContext ? { mayHoldContext } : {}) }
      if (answerText === undefined) return { reason: 'no_text', leaning: 1 }
      const compared = material.compare(answer)
      const { contentWords } = compared.support
      const isClaim =
        contentWords >= minContentWords && contentWords <= maxContentWords && !noClaim.test(answer)
      const isReadable = isEnglish(answer) && isEnglish(suppliedSample)
      const isToCompare = isClaim && isReadable && promptUnits <= maxPromptUnits
      // In a long message, the question stands at the end.
      const isOwnWork = ownWork.test(asked.slice(0, askedUnits)) || ownWork.test(asked.slice(-askedUnits))
      const found = isToCompare && !isOwnWork ? reasonOf(compared) : undefined
      if (found === undefined) {
        const isForeign = !isReadable && isOtherLanguage(answer)
        const reason = isForeign ? 'language_not_covered' : 'detectors_undecided'
        return { reason, leaning: 1 + 2.9 * compared.probability }
      }
      const { part, pointer, offset, text } = answerText
      const { rationale, kind } = found
      const evidence = [{ part, pointer, start: offset, end: offset + text.length, kind }]
      // Only an estimate: other words may say the same, and a new question may not concern text retrieved for
      // an old one.
      return {
        value: 4,
        rationale,
        contentFreeRationale: rationale,
        evidence,
        isEstimate: true,
        rank: 4 + 0.99 * compared.probability,
      }
    },
  }
}

/** Sure signs only: what one changed word means is for a judge. */
function reasonOf({ support, contradictions }: Comparison): { rationale: string; kind: string } | undefined {
  const { contentWords, missingWords, missingEverywhere } = support
  if (missingEverywhere >= unsupported) {
    const share = Math.round(missingEverywhere * 100)
    const rationale = `Of the answer's ${contentWords} content words, ${share}% stand neither in the supplied text nor elsewhere in the request.`
    return { rationale, kind: 'unsupported' }
  }
  const { numbers, units, names, opposites, denials, changed } = contradictions
  const invented = numbers + names
  if (invented >= minInvented && missingWords >= minMissing) {
    const rationale = `${invented} names and numbers of the answer stand nowhere in the request.`
    return { rationale, kind: 'unsupported' }
  }
  // The answer keeps the text's words, but denies or changes what they say.
  const isAbout = missingWords <= maxOtherWords
  if (isAbout && denials > 0 && denials + numbers + units + opposites >= minContradictions) {
    const rationale = 'The answer denies what the supplied text says, or says what it denies.'
    return { rationale, kind: 'contradiction' }
  }
  if (changed > 0 && missingWords <= maxChangedWords && contentWords <= maxChangedLength) {
    const rationale = 'The answer gives a number that the supplied text gives otherwise, with the same unit.'
    return { rationale, kind: 'contradiction' }
  }
  return undefined
}

function isOtherLanguage(answer: string): boolean {
  const language = identifyLanguage(answer)
  return language !== null && language !== 'en'
}

/**
 * Of longer passages in prompts people want summaries and conclusions, in words of their own: 16 of 608
 * ordinary calls have such answers.
 */
const maxPromptUnits = 600

/** A page of text: nobody types as much to ask, so part of it was probably supplied. */
const longPromptUnits = 2_000

function isLongPrompt({ texts }: Call): boolean {
  const prompts = texts.filter(
    ({ part, speaker, isOffer }) => part === 'request_body' && speaker !== 'assistant' && isOffer !== true,
  )
  return prompts.reduce((sum, { text }) => sum + text.length, 0) >= longPromptUnits
}

/** True for a prompt with retrieved or pasted passages, which an answer can be checked against. */
function isSupplied({ part, context }: CallText): boolean {
  return part === 'request_body' && context !== undefined
}

/** Tells which texts came from tools. An MCP server's descriptions of its tools do not count as sources. */
function createRetrievedCheck(): (text: CallText) => boolean {
  const namesOf = firstNames(4)
  return (text) => {
    if (text.part !== 'request_body' || text.speaker !== 'tool') return false
    const [list, place = '', member, ...inTools] = namesOf(text)
    const isOfTools = list === 'input' && /^\d+$/.test(place) && member === 'tools' && inTools.length > 0
    return !isOfTools
  }
}
