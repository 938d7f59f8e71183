import { codeExecution, argumentNamesOf, isOpenRouterType } from './hosted-calls.ts'
import { newSteps } from './interaction-steps.ts'
import { fieldAt, listOf, objectOf, textOf } from './json.ts'
import { isToolEntry, outputEntries } from './output-entries.ts'
import { runMessages } from './platform-answers.ts'
import { tracedResult } from './traced-result.ts'

export interface ToolCall {
  name: string
  /** JSON text of the arguments, as the model wrote it if it wrote text; empty without any. */
  arguments: string
}

/**
 * Whether a request is recorded as an agent's call of an external tool (specification 2.2), which only the
 * recording client decides. A model call of this type is recorded as text: otherwise it would be rejected
 * without a tool name, or its messages would go unread.
 */
export function isToolCallRecord(requestBody: unknown): boolean {
  return fieldAt(requestBody, 'type') === 'mcp_tool_call'
}

/**
 * The tools of a call: an `mcp_tool_call` record's own, or those called by the answer, or by the result of a
 * traced function. Accepts any JSON.
 */
export function toolCallsOf(requestBody: unknown, responseBody: unknown): ToolCall[] {
  if (isToolCallRecord(requestBody))
    return toolCall(fieldAt(requestBody, 'tool_name'), fieldAt(requestBody, 'arguments'))
  return [...calledIn(responseBody), ...calledIn(tracedResult(requestBody, responseBody))]
}

function calledIn(responseBody: unknown): ToolCall[] {
  return [
    ...listOf(fieldAt(responseBody, 'choices')).flatMap((choice) => ofMessage(fieldAt(choice, 'message'))),
    ...ofMessage(fieldAt(responseBody, 'message')),
    ...ofItems(listOf(fieldAt(responseBody, 'output'))),
    ...ofItems(newSteps(responseBody)),
    ...ofItems(outputEntries(responseBody)),
    ...listOf(fieldAt(responseBody, 'content')).flatMap(ofContentPart),
    ...listOf(fieldAt(responseBody, 'output', 'message', 'content')).flatMap(ofContentPart),
    ...listOf(fieldAt(responseBody, 'candidates'))
      .flatMap((candidate) => listOf(fieldAt(candidate, 'content', 'parts')))
      .flatMap(ofContentPart),
    ...listOf(fieldAt(responseBody, 'tool_calls')).flatMap(ofFunctionCall),
    ...runMessages(responseBody).flatMap(ofMessage),
  ]
}

function ofMessage(message: unknown): ToolCall[] {
  const old = fieldAt(message, 'function_call')
  return [
    ...listOf(fieldAt(message, 'tool_calls')).flatMap(ofFunctionCall),
    ...toolCall(fieldAt(old, 'name'), fieldAt(old, 'arguments')),
    // Groq's executed tools, by kind.
    ...listOf(fieldAt(message, 'executed_tools')).flatMap((tool) =>
      toolCall(fieldAt(tool, 'name') ?? fieldAt(tool, 'type'), fieldAt(tool, 'arguments')),
    ),
  ]
}

/**
 * OpenAI `{function: {name, arguments}}` or `{custom: {name, input}}`, Cohere v1 `{name, parameters}`,
 * LangChain `{name, args}`.
 */
function ofFunctionCall(call: unknown): ToolCall[] {
  const named = fieldAt(call, 'function') ?? fieldAt(call, 'custom') ?? call
  return toolCall(
    fieldAt(named, 'name'),
    fieldAt(named, 'arguments') ??
      fieldAt(named, 'input') ??
      fieldAt(named, 'parameters') ??
      fieldAt(named, 'args'),
  )
}

/**
 * Members that hold an item's arguments: `operation` of a patch, `actions` of several clicks, `queries` of a
 * file search.
 */
const argumentNames = ['arguments', 'input', 'action', 'code', 'operation', 'actions', 'queries'] as const

/** A call that needed approval appears twice once it was made. */
function ofItems(items: readonly unknown[]): ToolCall[] {
  const made = new Set(items.map((item) => textOf(fieldAt(item, 'approval_request_id'))))
  // Items without an id do not match approval requests without one.
  made.delete(undefined)
  return items
    .filter((item) => !isApprovalRequest(item) || !made.has(textOf(fieldAt(item, 'id'))))
    .flatMap(ofItem)
}

function isApprovalRequest(item: unknown): boolean {
  return fieldAt(item, 'type') === 'mcp_approval_request'
}

/**
 * An item of a response, step of an interaction or entry of a conversation. Function, custom and MCP calls
 * have a name; hosted code execution has none.
 */
function ofItem(item: unknown): ToolCall[] {
  const type = textOf(fieldAt(item, 'type'))
  if (isOpenRouterType(type)) return ofOpenRouter(item)
  const isCall = type?.endsWith('_call') === true || type === 'program' || isApprovalRequest(item)
  if (!isCall && !isToolEntry(item)) return []
  return toolCall(
    fieldAt(item, 'name') ?? type,
    argumentNames.map((given) => fieldAt(item, given)).find((given) => given !== undefined && given !== null),
  )
}

/** OpenRouter keeps arguments in the item: a single member as it is, several as an object. */
function ofOpenRouter(item: unknown): ToolCall[] {
  const given = argumentNamesOf(item).map((name) => [name, fieldAt(item, name)] as const)
  return toolCall(
    fieldAt(item, 'name') ?? fieldAt(item, 'toolName') ?? fieldAt(item, 'type'),
    given.length === 1 ? given[0]?.[1] : given.length === 0 ? undefined : Object.fromEntries(given),
  )
}

/** Anthropic `tool_use`, Bedrock `toolUse`, Gemini `functionCall`; code and searches executed by Gemini. */
function ofContentPart(part: unknown): ToolCall[] {
  const type = textOf(fieldAt(part, 'type'))
  if (type?.endsWith('tool_use') === true) return toolCall(fieldAt(part, 'name'), fieldAt(part, 'input'))
  const code = fieldAt(part, 'executableCode') ?? fieldAt(part, 'executable_code')
  if (objectOf(code) !== undefined) return toolCall(codeExecution, fieldAt(code, 'code'))
  const own = fieldAt(part, 'toolCall') ?? fieldAt(part, 'tool_call')
  const nested = fieldAt(part, 'toolUse') ?? fieldAt(part, 'functionCall') ?? fieldAt(part, 'function_call')
  return [
    ...toolCall(fieldAt(own, 'toolType') ?? fieldAt(own, 'tool_type'), fieldAt(own, 'args')),
    ...toolCall(fieldAt(nested, 'name'), fieldAt(nested, 'input') ?? fieldAt(nested, 'args')),
  ]
}

function toolCall(name: unknown, given: unknown): ToolCall[] {
  const text = textOf(name)
  return text === undefined ? [] : [{ name: text, arguments: argumentsText(given) }]
}

function argumentsText(given: unknown): string {
  if (typeof given === 'string') return given
  if (given === undefined || given === null) return ''
  try {
    return JSON.stringify(given)
  } catch (error) {
    // Nested deeper than the stack: keep the call without its arguments.
    if (error instanceof RangeError) return ''
    throw error
  }
}
