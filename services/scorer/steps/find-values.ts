import { fieldAt, listOf } from '#capture/json.ts'
import type { FoundValue } from '#schemas/safety-score-recorded.ts'
import { hashValue } from '#schemas/value-hash.ts'
import type { Call, Evidence } from '#detectors/call-text.ts'
import type { NamedVerdict } from '#detectors/verdict.ts'
import { createToolFinder, storable, valueAt } from './find-tool.ts'

/** Different values of one score that its record carries. */
const maxValues = 10
/** The least that any detector stops at: from there on something else may have been found. */
const maxComplete = 20
const maxListed = 200

export type Found = { found_values: FoundValue[] | null; found_more: boolean | null }
const nothing: Found = { found_values: null, found_more: null }

/**
 * What each unsafe score found, as hashes under the project's key (docs/decisions/0097). Without a key kinds
 * and tools are known, values are not.
 */
export function createValueFinder(
  call: Call | null,
  toolName: string | null,
  key: Buffer | null,
): (named: NamedVerdict) => Found {
  if (call === null) return () => nothing
  const toolOf = createToolFinder(call, toolName)
  return ({ scorer, verdict }) => {
    if (verdict.label !== 'unsafe') return nothing
    const found = new Map<string, FoundValue>()
    for (const evidence of verdict.evidence.slice(0, maxComplete)) {
      const text = key === null ? undefined : matchedText(call, evidence, readsCommands(scorer, verdict))
      const hash = key === null || text === undefined ? null : hashValue(key, scorer, text)
      const kind = storable(evidence.kind)
      const tool = toolOf(evidence)
      const identity = JSON.stringify([kind, tool, hash?.toString('hex') ?? null])
      if (!found.has(identity)) found.set(identity, { kind, tool, hash })
    }
    const hasMore = found.size > maxValues || verdict.evidence.length >= maxComplete
    return { found_values: [...found.values()].slice(0, maxValues), found_more: hasMore }
  }
}

/**
 * These search commands that they take apart: a program's name alone, or a place inside of decoded arguments.
 */
function readsCommands(scorer: string, { method }: NamedVerdict['verdict']): boolean {
  return method === 'custom' || scorer === 'excessive_agency'
}

/** The passage; of a command that was taken apart the whole of it. Undefined: it is not in the call. */
function matchedText(
  call: Call,
  { part, pointer, start, end }: Evidence,
  isCommand: boolean,
): string | undefined {
  const body = part === 'request_body' ? call.request : call.response
  if (body === null) return undefined
  if (pointer === null) return body.json.slice(start, end)
  if (isCommand) {
    const within = listOf(valueAt(body.value, pointer.slice(0, pointer.lastIndexOf('/'))))
    if (within.length > 1) return JSON.stringify(within.slice(0, maxListed))
  }
  const text = isTruncated(body.value) ? textAt(call, part, pointer) : textOf(valueAt(body.value, pointer))
  if (isCommand && text !== undefined && /^\s*[[{]/.test(text)) return text
  return text?.slice(start, end)
}

/**
 * Of a truncated body scorers read the text without its media. It has few texts, where others have half a
 * million.
 */
function textAt({ texts }: Call, part: Evidence['part'], pointer: string): string | undefined {
  return texts.find((known) => known.part === part && known.pointer === pointer)?.text
}

function isTruncated(body: unknown): boolean {
  return fieldAt(body, 'truncated') === true
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.filter((piece) => typeof piece === 'string').join('')
  return typeof value === 'number' ? String(value) : undefined
}
