import { toolCallsOf } from '#capture/tool-calls.ts'
import { isToolCall, type BodyPart, type Call } from '../call-text.ts'
import { stringsOf } from '../strings-of.ts'

/** What a tool is called with: a string of the body, where it stands, whether it is JSON text whose escapes are left in. */
export interface ToolArgument {
  part: BodyPart
  pointer: string
  text: string
}

/**
 * The arguments of a tool-call record, or of the calls that an answer asks for: `tool_calls[].function.arguments` and
 * `function_call.arguments` (JSON text), `tool_use.input`. Null: no tool is called. Empty: tools are called without any.
 */
export function argumentsOf({ request, response }: Call): ToolArgument[] | null {
  if (isToolCall(request?.value)) {
    const given = (request?.value as Readonly<Record<string, unknown>>)['arguments']
    return collect('request_body', given, '/arguments')
  }
  const found: ToolArgument[] = []
  let calls = false
  const stack: { value: unknown; pointer: string }[] = [{ value: response?.value, pointer: '' }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { value, pointer } = next
    if (typeof value !== 'object' || value === null) continue
    const given = givenOf(value, pointer)
    if (given !== null) {
      calls = true
      found.push(...collect('response_body', given.value, `${pointer}/${given.key}`))
      continue
    }
    for (const [key, child] of Object.entries(value)) {
      stack.push({ value: child, pointer: `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}` })
    }
  }
  return calls || toolCallsOf(request?.value, response?.value).length > 0 ? found : null
}

/** A provider's own tools are called without a name: `computer_call`, `local_shell_call`, `code_interpreter_call`, `server_tool_use`. */
const callType = /_call$|tool_use$/
const namedKeys = ['arguments', 'input', 'args', 'parameters']
const typedKeys = [...namedKeys, 'action', 'code']

/** The member that holds what a tool is called with, in any provider's shape; the call itself where none of its members is known to. */
function givenOf(value: object, pointer: string): { key: string; value: unknown } | null {
  const fields = value as Readonly<Record<string, unknown>>
  const { name, type } = fields
  const isTyped = typeof type === 'string' && callType.test(type)
  if (typeof name !== 'string' && !isTyped) return null
  for (const key of isTyped ? typedKeys : namedKeys)
    // Some answers repeat what was offered: there `parameters` are a schema.
    if (fields[key] !== undefined && !(key === 'parameters' && pointer.startsWith('/tools/')))
      return { key, value: fields[key] }
  return isTyped ? { key: 'type', value: type } : null
}

function collect(part: BodyPart, value: unknown, pointer: string): ToolArgument[] {
  return Array.from(stringsOf(value, pointer), (string) => ({ part, ...string }))
}
