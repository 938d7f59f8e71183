import { codeExecution, givenNamesOf, isOpenRouterType } from './hosted-calls.ts'
import { newSteps } from './interaction-steps.ts'
import { fieldAt, listOf, objectOf, textOf } from './json.ts'
import { isToolEntry, outputEntries } from './output-entries.ts'
import { runMessages } from './platform-answers.ts'
import { tracedResult } from './traced-result.ts'

export interface ToolCall {
  name: string
  /** JSON text of the arguments, as the model wrote it where it wrote text; empty when there are none. */
  arguments: string
}

/**
 * Whether a request is recorded as an agent's call of an external tool (specification 2.2): for who records to say. A model call that names itself one would be read as that, refused
 * without a tool's name, and with one its messages would go unread; it is kept as text.
 */
export function isToolCallRecord(requestBody: unknown): boolean {
  return fieldAt(requestBody, 'type') === 'mcp_tool_call'
}

/** The tools that a call is about: an `mcp_tool_call` record's own, else those that the answer calls, or the answer that a traced function gave back. Takes any JSON. */
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
    // What Groq has run on the way to its answer, by kind.
    ...listOf(fieldAt(message, 'executed_tools')).flatMap((tool) =>
      toolCall(fieldAt(tool, 'name') ?? fieldAt(tool, 'type'), fieldAt(tool, 'arguments')),
    ),
  ]
}

/** OpenAI `{function: {name, arguments}}` or `{custom: {name, input}}`, Cohere's first `{name, parameters}`, LangChain's `{name, args}`. */
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

/** Under which name an item has what its tool is to do: a patch has its operation, several clicks at once their actions, a search of files its queries. */
const givenNames = ['arguments', 'input', 'action', 'code', 'operation', 'actions', 'queries'] as const

/** A call that had to be approved stands there twice once it was made. */
function ofItems(items: readonly unknown[]): ToolCall[] {
  const made = new Set(items.map((item) => textOf(fieldAt(item, 'approval_request_id'))))
  // Most items are the answer to no request: one without an id is not the request that they all name.
  made.delete(undefined)
  return items
    .filter((item) => !isApprovalRequest(item) || !made.has(textOf(fieldAt(item, 'id'))))
    .flatMap(ofItem)
}

function isApprovalRequest(item: unknown): boolean {
  return fieldAt(item, 'type') === 'mcp_approval_request'
}

/** An output item of the responses shape, a step of an interaction, an entry of a conversation: function, custom and MCP calls have a name of their own, code that runs at the provider has none. */
function ofItem(item: unknown): ToolCall[] {
  const type = textOf(fieldAt(item, 'type'))
  if (isOpenRouterType(type)) return ofOpenRouter(item)
  const isCall = type?.endsWith('_call') === true || type === 'program' || isApprovalRequest(item)
  if (!isCall && !isToolEntry(item)) return []
  return toolCall(
    fieldAt(item, 'name') ?? type,
    givenNames.map((given) => fieldAt(item, given)).find((given) => given !== undefined && given !== null),
  )
}

/** It has what its tool is to do in the item itself: one member as it is, several by their names. */
function ofOpenRouter(item: unknown): ToolCall[] {
  const given = givenNamesOf(item).map((name) => [name, fieldAt(item, name)] as const)
  return toolCall(
    fieldAt(item, 'name') ?? fieldAt(item, 'toolName') ?? fieldAt(item, 'type'),
    given.length === 1 ? given[0]?.[1] : given.length === 0 ? undefined : Object.fromEntries(given),
  )
}

/** Anthropic `tool_use`, Bedrock `toolUse`, Gemini `functionCall`; code and searches that Gemini has run. */
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
    // Nested deeper than the stack: hostile, and no reason to lose the call.
    if (error instanceof RangeError) return ''
    throw error
  }
}
