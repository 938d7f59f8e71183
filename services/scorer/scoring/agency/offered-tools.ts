import { fieldAt, listOf, textOf } from '#capture/json.ts'
import { isToolCallRecord, toolCallsOf } from '#capture/tool-calls.ts'
import type { Call } from '../call-text.ts'

/**
 * Names of tools that the answer calls although the request offers others: what an agent may use is what its application offers, call by call. Empty where
 * the request offers none by name, or some without (a provider's own, a server of tools): then nobody can say.
 */
export function findUnofferedTools({ request, response }: Call): string[] {
  if (isToolCallRecord(request?.value)) return []
  const offered = offeredNames(request?.value)
  if (offered === null) return []
  const called = toolCallsOf(request?.value, response?.value).map(({ name }) => name)
  return [...new Set(called)].filter((name) => !offered.has(name))
}

/** Null: the list is not known, or not all of it. */
function offeredNames(request: unknown): ReadonlySet<string> | null {
  const entries = [
    ...listOf(fieldAt(request, 'tools')),
    ...listOf(fieldAt(request, 'functions')),
    ...listOf(fieldAt(request, 'toolConfig', 'tools')),
  ].flatMap(declarationsOf)
  const names = entries.map(
    (entry) =>
      textOf(fieldAt(entry, 'function', 'name')) ??
      textOf(fieldAt(entry, 'custom', 'name')) ??
      textOf(fieldAt(entry, 'toolSpec', 'name')) ??
      textOf(fieldAt(entry, 'name')),
  )
  return names.length === 0 || names.includes(undefined)
    ? null
    : new Set(names.filter((name) => name !== undefined))
}

/** Gemini lists functions inside one tool. */
function declarationsOf(tool: unknown): readonly unknown[] {
  const declared = fieldAt(tool, 'functionDeclarations') ?? fieldAt(tool, 'function_declarations')
  return declared === undefined ? [tool] : listOf(declared)
}
