import { isOpenRouterType } from '#capture/hosted-calls.ts'
import { fieldAt, listOf, textOf } from '#capture/json.ts'
import { isToolCallRecord, toolCallsOf } from '#capture/tool-calls.ts'
import type { Call } from '../call-text.ts'

/**
 * Names of tools that the answer calls but the request does not offer: the offer defines what an agent may
 * use, call by call. Empty if the request offers none by name, or some without (a provider's own, an MCP
 * server).
 */
export function findUnofferedTools({ request, response }: Call): string[] {
  if (isToolCallRecord(request?.value)) return []
  const offered = offeredNames(request?.value, response?.value)
  if (offered === null) return []
  const providersOwn = namesRunByProvider(response?.value)
  const called = toolCallsOf(request?.value, response?.value).map(({ name }) => name)
  return [...new Set(called)].filter((name) => !offered.has(name) && !providersOwn.has(name))
}

/** Null: the list is unknown or incomplete. */
function offeredNames(request: unknown, response: unknown): ReadonlySet<string> | null {
  const entries = [
    ...listOf(fieldAt(request, 'tools')),
    ...listOf(fieldAt(request, 'functions')),
    ...listOf(fieldAt(request, 'toolConfig', 'tools')),
    ...offeredOnTheWay(request, response),
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

/** Gemini lists functions inside one tool, OpenAI those of a namespace. */
function declarationsOf(tool: unknown): readonly unknown[] {
  const inNamespace = fieldAt(tool, 'type') === 'namespace' ? fieldAt(tool, 'tools') : undefined
  const declared =
    fieldAt(tool, 'functionDeclarations') ?? fieldAt(tool, 'function_declarations') ?? inNamespace
  return declared === undefined ? [tool] : listOf(declared)
}

/**
 * Tools added by conversation items: OpenAI's searches and `additional_tools`, Anthropic's `tool_addition`.
 */
function offeredOnTheWay(request: unknown, response: unknown): unknown[] {
  const items = [...listOf(fieldAt(request, 'input')), ...listOf(fieldAt(response, 'output'))]
  const blocks = listOf(fieldAt(request, 'messages'))
    .flatMap((message) => listOf(fieldAt(message, 'content')))
    .flatMap((block) => [block, ...listOf(fieldAt(block, 'tool_changes'))])
  return [
    ...items
      .filter((item) => ['additional_tools', 'tool_search_output'].includes(typeOf(item)))
      .flatMap((item) => listOf(fieldAt(item, 'tools'))),
    ...blocks
      .filter((block) => typeOf(block) === 'tool_addition')
      .map((block) => fieldAt(block, 'tool', 'definition') ?? fieldAt(block, 'tool')),
  ]
}

/** Providers name their own tools' calls differently: `code_execution` runs as `bash_code_execution`. */
function namesRunByProvider(response: unknown): ReadonlySet<string> {
  const run = {
    content: listOf(fieldAt(response, 'content')).filter((part) =>
      ['server_tool_use', 'mcp_tool_use'].includes(typeOf(part)),
    ),
    output: listOf(fieldAt(response, 'output')).filter((item) => isOpenRouterType(typeOf(item))),
    candidates: listOf(fieldAt(response, 'candidates')).map((candidate) => ({
      content: { parts: listOf(fieldAt(candidate, 'content', 'parts')).filter(isRunByGoogle) },
    })),
    choices: listOf(fieldAt(response, 'choices')).map((choice) => ({
      message: { executed_tools: fieldAt(choice, 'message', 'executed_tools') },
    })),
  }
  return new Set(toolCallsOf(undefined, run).map(({ name }) => name))
}

function isRunByGoogle(part: unknown): boolean {
  const names = ['executableCode', 'executable_code', 'toolCall', 'tool_call']
  return names.some((name) => fieldAt(part, name) !== undefined)
}

function typeOf(item: unknown): string {
  return textOf(fieldAt(item, 'type')) ?? ''
}
