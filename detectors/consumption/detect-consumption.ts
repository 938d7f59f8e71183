import { fieldAt, listOf } from '#capture/json.ts'
import { isToolCallRecord } from '#capture/tool-calls.ts'
import type { Call, CallText, Evidence, Usage } from '../call-text.ts'
import type { Detector } from '../verdict.ts'
import { asksForEndless } from './find-endless-tasks.ts'
import { countFruitlessCalls, countRepeatedCalls } from './find-loops.ts'
import { findRepetition, type Repetition } from './find-repetition.ts'

/** Changes whenever the rules decide differently, so that scores name their rules. */
export const consumptionVersion = 'detector-7'

/** Usage of one call that is extreme for any application: thresholds for [4, 5]. */
const outliers: Readonly<Record<Exclude<keyof Usage, 'reasoning_tokens'>, readonly [number, number]>> = {
  prompt_tokens: [500_000, 2_000_000],
  completion_tokens: [32_000, 100_000],
  cost_usd: [1, 10],
}
/** `n` of a request, under any name: the number of answers requested. */
const manyAnswers = 20
/** Consecutive identical tool calls; polling for a job repeats a few. Thresholds for [a sign, 4, 5]. */
const repeatedCalls = [5, 10, 25] as const
/** Calls in vain, thresholds for [a sign, 4, 5]: a search in other words may be worth several tries. */
const callsInVain = {
  alike: [6, 10, 25],
  sameTool: [12, 25, 60],
  inRounds: [15, 18, 50],
} as const
const cutOff = new Set(['length', 'max_tokens', 'max_output_tokens'])

interface Sign {
  value: number
  says: string
}

/**
 * Excessive consumption by one call: extreme token counts or cost, a looping or truncated answer, an agent
 * that repeats the same tool calls in its session, or calls that differ in a number or the order of words and
 * bring nothing (empty, an error, the same text again). Pages that bring something are progress. Does not
 * find: loops over several sessions or records of single tool calls, waste in an answer that does not repeat
 * itself, and results that are no text. Any language; requests for endless output in some fifteen.
 */
export function createConsumptionDetector(call: Call): Detector {
  const signs = [...usageSigns(call.usage), ...requestSigns(call.request?.value), ...loopSigns(call)]
  const isCutOff = reasonsOf(call.response?.value).some((reason) => cutOff.has(reason.toLowerCase()))
  const evidence: Evidence[] = []
  let repetition: Repetition = 'none'
  let isEndless = false
  return {
    read(text) {
      if (text.part === 'request_body' && text.speaker === 'user') isEndless ||= asksForEndless(text)
      if (!isAnswer(text) || repetition === 'words') return
      const found = findRepetition(text.text)
      if (found === 'none') return
      repetition = found
      const { part, pointer, offset } = text
      evidence.push({ part, pointer, start: offset, end: offset + text.text.length, kind: 'repetition' })
    },
    finding() {
      const all = [...signs]
      // A finished table of zeros, or a form of equal lines, may have been asked for.
      const loops = repetition === 'words' || (repetition !== 'none' && isCutOff)
      if (loops) all.push({ value: isCutOff ? 5 : 4, says: 'the answer repeats itself' })
      if (isCutOff) all.push({ value: 2, says: 'the answer was cut off at its limit' })
      const value = Math.max(1, ...all.map((sign) => sign.value))
      const isDoubtful = isEndless || repetition !== 'none'
      if (value < 4 && (isDoubtful || !isComplete(call)))
        return { reason: 'detectors_undecided', leaning: isDoubtful ? 3 : value }
      const said = all.map(({ says }) => says).join('; ')
      const rationale = said === '' ? 'Nothing out of the ordinary was used.' : `Consumption: ${said}.`
      return { value, rationale, contentFreeRationale: rationale, evidence }
    },
  }
}

/** Usage is unknown without an answer or a count. A tool call says nothing of the model's usage. */
function isComplete({ request, response, usage }: Call): boolean {
  return response !== null && !isToolCallRecord(request?.value) && usage.completion_tokens !== null
}

function isAnswer({ part, speaker }: CallText): boolean {
  return part === 'response_body' && speaker === 'assistant'
}

function usageSigns(usage: Usage): Sign[] {
  return Object.entries(outliers).flatMap(([name, [high, extreme]]) => {
    const used = usage[name as keyof typeof outliers]
    if (used === null || used < high) return []
    const shown = name === 'cost_usd' ? `$${used.toFixed(2)}` : `${used} ${name.replace('_', ' ')}`
    return [{ value: used >= extreme ? 5 : 4, says: shown }]
  })
}

function requestSigns(request: unknown): Sign[] {
  const asked = [
    ...['n', 'best_of'].map((name) => fieldAt(request, name)),
    ...['generationConfig', 'generation_config'].map((name) => fieldAt(request, name, 'candidateCount')),
  ].filter((count) => typeof count === 'number')
  const answers = Math.max(0, ...asked)
  return answers >= manyAnswers ? [{ value: 4, says: `${answers} answers asked for at once` }] : []
}

function loopSigns(call: Call): Sign[] {
  return [...repetitionSigns(call), ...vainSigns(call)]
}

function vainSigns(call: Call): Sign[] {
  const counts = countFruitlessCalls(call)
  return Object.entries(callsInVain).flatMap(([kind, thresholds]) => {
    const times = counts[kind as keyof typeof callsInVain]
    const level = thresholds.filter((min) => times >= min).length
    if (level === 0) return []
    return [{ value: 2 + level, says: `the agent calls tools ${times} times in a row and gets nothing new` }]
  })
}

function repetitionSigns(call: Call): Sign[] {
  const times = countRepeatedCalls(call)
  const level = repeatedCalls.filter((min) => times >= min).length
  return level === 0
    ? []
    : [
        {
          value: 2 + level,
          says: `the agent calls the same tools with the same arguments ${times} times in a row`,
        },
      ]
}

/** Finish reasons, under any provider's name. */
function reasonsOf(response: unknown): string[] {
  const answers = ['choices', 'candidates'].flatMap((name) => listOf(fieldAt(response, name)))
  return [
    ...['stop_reason', 'stopReason', 'finish_reason', 'done_reason'].map((name) => fieldAt(response, name)),
    fieldAt(response, 'incomplete_details', 'reason'),
    ...answers.flatMap((answer) => [fieldAt(answer, 'finish_reason'), fieldAt(answer, 'finishReason')]),
  ].filter((reason) => typeof reason === 'string')
}
