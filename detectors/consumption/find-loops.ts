import { fieldAt, listOf, objectOf, parseJson } from '#capture/json.ts'
import { maxBodyDepth } from '#capture/record/fits-record.ts'
import { isDeeperThan } from '#capture/record/scan-json.ts'
import { isToolCallRecord, toolCallsOf } from '#capture/tool-calls.ts'
import type { Call } from '../call-text.ts'

/** Agents that loop often do so in two or three steps. */
const longestCycle = 3
/** Maximum calls compared: by then a loop is visible. */
const maxCalls = 600

/**
 * How many times in a row the agent has made the same tool calls, including this answer. A session's calls
 * are repeated in its next request, so this needs no other records. 0: no call now, so no loop.
 */
export function countRepeatedCalls({ request, response }: Call): number {
  if (isToolCallRecord(request?.value)) return 0
  const now = keysOf(response?.value)
  if (now.length === 0) return 0
  const calls = [...historyOf(request?.value), ...now].slice(-maxCalls)
  let longest = 1
  for (let cycle = 1; cycle <= longestCycle; cycle++) {
    let same = 0
    while (same < calls.length - cycle && calls.at(-1 - same) === calls.at(-1 - same - cycle)) same++
    longest = Math.max(longest, 1 + Math.floor(same / cycle))
  }
  return longest
}

/** Tool calls of earlier turns, in any provider's format. */
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

/** Longer arguments are compared as written, and deeper ones: JSON.stringify overflows at 4,500 levels. */
const maxNormalised = 10_000

/** Equal arguments may differ in white space and key order. */
function normalForm(given: string): string {
  if (given.length > maxNormalised || isDeeperThan(maxBodyDepth, given)) return given
  const parsed = objectOf(parseJson(given))
  if (parsed === undefined) return given
  return JSON.stringify(Object.entries(parsed).sort(([one], [other]) => (one < other ? -1 : 1)))
}
