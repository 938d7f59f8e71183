import { fieldAt, listOf, objectOf, parseJson } from '#capture/json.ts'
import { maxBodyDepth } from '#capture/record/fits-record.ts'
import { isDeeperThan } from '#capture/record/scan-json.ts'
import { isToolCallRecord, toolCallsOf } from '#capture/tool-calls.ts'
import type { Call } from '../call-text.ts'

/** An agent that goes round in circles often does so in two or three steps. */
const longestCycle = 3
/** Calls that are compared: a longer session has shown what it does by then. */
const maxCalls = 600

/**
 * How many times in a row an agent has called the same tools with the same arguments, up to and with this answer. A session's calls stand in the
 * request of the next one, so that a loop shows without looking at other records. 0: it calls none now, the loop is over.
 */
export function countRepeatedCalls({ request, response }: Call): number {
  if (isToolCallRecord(request?.value)) return 0
  const now = keysOf(response?.value)
  if (now.length === 0) return 0
  const calls = [...historyOf(request?.value), ...now].slice(-maxCalls)
  let most = 1
  for (let cycle = 1; cycle <= longestCycle; cycle++) {
    let same = 0
    while (same < calls.length - cycle && calls.at(-1 - same) === calls.at(-1 - same - cycle)) same++
    most = Math.max(most, 1 + Math.floor(same / cycle))
  }
  return most
}

/** Calls in the turns before, in any provider's shape. */
function historyOf(request: unknown): string[] {
  return [
    ...listOf(fieldAt(request, 'messages')).flatMap((message) =>
      keysOf({ message, content: fieldAt(message, 'content') }),
    ),
    ...keysOf({ output: fieldAt(request, 'input') }),
    ...listOf(fieldAt(request, 'contents')).flatMap((content) => keysOf({ candidates: [{ content }] })),
  ]
}

function keysOf(answer: unknown): string[] {
  return toolCallsOf(undefined, answer).map(({ name, arguments: given }) => `${name} ${normalForm(given)}`)
}

/** Longer and deeper ones are compared as they were written: JSON.stringify runs out of stack at some 4,500 levels. */
const maxNormalised = 10_000

/** The same arguments are written with and without blanks, and in another order. */
function normalForm(given: string): string {
  if (given.length > maxNormalised || isDeeperThan(maxBodyDepth, given)) return given
  const parsed = objectOf(parseJson(given))
  // What is no JSON is compared by its letters.
  if (parsed === undefined) return given
  return JSON.stringify(Object.entries(parsed).sort(([one], [other]) => (one < other ? -1 : 1)))
}
