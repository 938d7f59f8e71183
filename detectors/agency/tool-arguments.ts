import { codeExecution, argumentNamesOf, isOpenRouterType } from '#capture/hosted-calls.ts'
import { textOf } from '#capture/json.ts'
import { isToolCallRecord, toolCallsOf } from '#capture/tool-calls.ts'
import type { Path } from '../along-names.ts'
import type { BodyPart, Call } from '../call-text.ts'
import { memberOfBody, stringsOf, type PlacedString } from '../strings-of.ts'

/** A tool's argument: a string of the body, its location, and whether it is JSON text with escapes. */
export interface ToolArgument extends PlacedString {
  part: BodyPart
  /** The tool's name; for a provider's own its type. Empty if neither is known. */
  tool: string
}

/** Each takes 25 µs, however short: half a million would take ten seconds. */
const maxArguments = 10_000

/**
 * Arguments of a tool-call record, or of the calls in an answer: `tool_calls[].function.arguments` and
 * `function_call.arguments` (JSON text), `tool_use.input`. Null: no tool is called. Empty: called without
 * arguments.
 */
export function argumentsOf({ request, response }: Call): ToolArgument[] | null {
  const asked = request?.value
  if (isToolCallRecord(asked)) {
    const { tool_name: tool, arguments: given } = asked as Readonly<Record<string, unknown>>
    return collect([], { part: 'request_body', tool: textOf(tool) ?? '' }, given, memberOfBody('arguments'))
  }
  const found: ToolArgument[] = []
  let calls = false
  const stack: Held[] = [{ value: response?.value, key: '', pointer: '', within: null, isOffered: false }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { value, pointer, key: name, within } = next
    if (typeof value !== 'object' || value === null) continue
    const path = { name, within }
    const given = givenOf(value, next)
    if (given !== null) {
      calls = true
      const { tool, keys } = given
      const fields = value as Readonly<Record<string, unknown>>
      for (const key of keys) {
        const place = { pointer: `${pointer}/${key}`, name: key, within: path }
        collect(found, { part: 'response_body', tool }, fields[key], place)
      }
      continue
    }
    for (const [key, child] of Object.entries(value)) {
      const isOffered = next.isOffered || pointer === '/tools'
      const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
      stack.push({ value: child, key, pointer: at, within: path, isOffered })
    }
  }
  return calls || toolCallsOf(request?.value, response?.value).length > 0 ? found : null
}

/** A value of an answer. Its pointer is never flattened: at 100,000 levels that takes seconds. */
interface Held {
  value: unknown
  key: string
  pointer: string
  within: Path | null
  /** Inside a list where answers repeat the tools offered. */
  isOffered: boolean
}

/** Types of a provider's own tools, called without a name: `computer_call`, `server_tool_use` … */
const callType = /_call$|tool_use$|^program$/
/** Code run by Gemini is a member of a part and has no name. */
const geminiCode: ReadonlySet<string> = new Set(['executableCode', 'executable_code'])
const namedKeys = ['arguments', 'input', 'args', 'parameters']
const typedKeys = [...namedKeys, 'action', 'code', 'operation', 'actions', 'queries']

/** The members that hold a tool's arguments in any provider's format, else the type of the call. */
function givenOf(value: object, { key: heldAs, isOffered }: Held): { tool: string; keys: string[] } | null {
  const fields = value as Readonly<Record<string, unknown>>
  const { name, type } = fields
  if (geminiCode.has(heldAs)) return { tool: codeExecution, keys: ['code'] }
  if (isOpenRouterType(type))
    return { tool: textOf(name) ?? textOf(type) ?? '', keys: argumentNamesOf(value) }
  const isTyped = typeof type === 'string' && callType.test(type)
  const tool = textOf(name) ?? hostedName(fields) ?? (isTyped ? textOf(type) : undefined)
  if (tool === undefined && !isTyped && typeof name !== 'string') return null
  // Several clicks at once have a null action beside them.
  const isGiven = (member: unknown) => member !== undefined && !(isTyped && member === null)
  for (const key of isTyped ? typedKeys : namedKeys)
    // Some answers repeat the tools offered; there `parameters` is a schema.
    if (isGiven(fields[key]) && !(key === 'parameters' && isOffered)) return { tool: tool ?? '', keys: [key] }
  return isTyped ? { tool: tool ?? '', keys: ['type'] } : null
}

/** Gemini and Groq name the kind of tool that ran at the provider. */
function hostedName({
  type,
  toolType,
  tool_type: other,
  arguments: given,
}: Readonly<Record<string, unknown>>) {
  return textOf(toolType) ?? textOf(other) ?? (typeof given === 'string' ? textOf(type) : undefined)
}

/** Adds to `found` up to the limit. */
function collect(
  found: ToolArgument[],
  call: Pick<ToolArgument, 'part' | 'tool'>,
  value: unknown,
  place: Omit<PlacedString, 'text'>,
): ToolArgument[] {
  for (const string of stringsOf(value, place)) {
    if (found.length >= maxArguments) break
    found.push({ ...call, ...string })
  }
  return found
}
