import { fieldAt, listOf, objectOf, parseJson } from '#capture/json.ts'
import { maxBodyDepth } from '#capture/record/fits-record.ts'
import { isDeeperThan } from '#capture/record/scan-json.ts'
import { isToolCallRecord, toolCallsOf } from '#capture/tool-calls.ts'
import type { Call } from '../call-text.ts'
import { isFruitless, toolResultsOf } from './tool-results.ts'

/** Agents that loop often do so in two or three steps. */
const longestCycle = 3
/** Longer rounds count only with equal results: reading, editing and testing by turns is work. */
const longestRound = 6
/** A result that comes again word for word, and says something. */
const minEqualUnits = 80
/** Maximum calls compared: by then a loop is visible. */
const maxCalls = 600

/**
 * How many times in a row the agent has made the same tool calls, including this answer. A session's calls
 * are repeated in its next request, so this needs no other records. 0: no call now, so no loop.
 */
export function countRepeatedCalls({ request, response }: Call): number {
  if (isToolCallRecord(request?.value)) return 0
  const now = toolCallsOf(undefined, response?.value).map(keyOf)
  if (now.length === 0) return 0
  const calls = [...callsOf(request?.value).map(keyOf), ...now].slice(-maxCalls)
  let longest = 1
  for (let cycle = 1; cycle <= longestCycle; cycle++) {
    let same = 0
    while (same < calls.length - cycle && calls.at(-1 - same) === calls.at(-1 - same - cycle)) same++
    longest = Math.max(longest, 1 + Math.floor(same / cycle))
  }
  return longest
}

/** Calls in a row that bring nothing new. */
export interface FruitlessCalls {
  /** To the same tool with the same arguments but for their numbers, or the order of their words. */
  alike: number
  /** To the same tool, each time with other arguments. */
  sameTool: number
  /** In rounds of several calls, each with the result that it had before. */
  inRounds: number
}

/**
 * How long the agent has been calling in vain: each time an empty result, an error, or once more the same
 * text. The calls of this answer have no result yet, and one has to go on as before.
 */
export function countFruitlessCalls({ request, response }: Call): FruitlessCalls {
  const none = { alike: 0, sameTool: 0, inRounds: 0 }
  if (isToolCallRecord(request?.value)) return none
  const now = toolCallsOf(undefined, response?.value)[0]
  const results = toolResultsOf(request?.value)
  if (now === undefined || results.length < minResults) return none
  const history = callsOf(request?.value)
  if (history.length !== results.length) return none
  const steps = history.map((call, at) => ({ ...maskOf(call), result: results[at] ?? '' })).slice(-maxCalls)
  const next = maskOf(now)
  const vain = steps.slice(
    steps.findLastIndex(({ name, result }) => name !== next.name || !isFruitless(result)) + 1,
  )
  return {
    alike: lengthInVain(steps, ({ masked }) => masked === next.masked),
    sameTool: new Set(vain.map(({ key }) => key)).size,
    inRounds: lengthOfRounds(steps, next.key),
  }
}

/** Fewer are no loop of any kind. */
const minResults = 8

interface Step {
  name: string
  key: string
  masked: string
  result: string
}

function maskOf({ name, arguments: given }: { name: string; arguments: string }) {
  const key = `${name} ${normalForm(given)}`
  const words =
    given
      .slice(0, maxNormalised)
      .toLowerCase()
      .replace(/\d+/g, '#')
      .match(/[\p{L}#]+/gu) ?? []
  return { name, key, masked: `${name} ${words.sort().join(' ')}` }
}

/** Steps at the end that belong together and bring nothing, with the one to come. */
function lengthInVain(steps: readonly Step[], belongs: (step: Step) => boolean): number {
  let count = 0
  for (let at = steps.length - 1; at >= 0; at--) {
    const step = steps[at]
    if (step === undefined || !belongs(step)) break
    const { result } = step
    const isSame = result.length >= minEqualUnits && result === steps[at + (count === 0 ? -1 : 1)]?.result
    if (!isFruitless(result) && !isSame) break
    count += 1
  }
  return count === 0 ? 0 : count + 1
}

function lengthOfRounds(steps: readonly Step[], next: string): number {
  let longest = 0
  for (let cycle = longestCycle; cycle <= longestRound; cycle++) {
    if (steps.at(-cycle)?.key !== next) continue
    let same = 0
    const isAgain = (at: number) =>
      steps.at(-1 - at)?.key === steps.at(-1 - at - cycle)?.key &&
      steps.at(-1 - at)?.result === steps.at(-1 - at - cycle)?.result
    while (same < steps.length - cycle && isAgain(same)) same++
    if (same >= cycle * (minRounds - 1)) longest = Math.max(longest, same + cycle)
  }
  return longest
}

/** Four rounds of trying the same may still be patience. */
const minRounds = 5

/** Tool calls of earlier turns, in any provider's format. */
function callsOf(request: unknown) {
  const called = (answer: unknown) => toolCallsOf(undefined, answer)
  return [
    ...listOf(fieldAt(request, 'messages')).flatMap((message) =>
      called({ message, content: fieldAt(message, 'content') }),
    ),
    ...called({ output: fieldAt(request, 'input') }),
    ...listOf(fieldAt(request, 'contents')).flatMap((content) => called({ candidates: [{ content }] })),
  ]
}

function keyOf({ name, arguments: given }: { name: string; arguments: string }): string {
  return `${name} ${normalForm(given)}`
}

/** Longer arguments are compared as written, and deeper ones: JSON.stringify overflows at 4,500 levels. */
const maxNormalised = 10_000

/** Equal arguments may differ in white space and key order. */
function normalForm(given: string): string {
  if (given.length > maxNormalised || isDeeperThan(maxBodyDepth, given)) return given
  const parsed = objectOf(parseJson(given))
  if (parsed === undefined) return given
  return JSON.stringify(Object.entries(parsed).sort(([one], [other]) => (one < other ? -1 : 1)))
}
