import { fieldAt, listOf, textOf } from '#capture/json.ts'
import { keepFirst } from '#capture/keep-first.ts'
import { isToolCallRecord } from '#capture/tool-calls.ts'
import type { Call, Evidence } from '#detectors/call-text.ts'

/** Characters of a tool's name or of a kind that a record carries. */
const maxNameUnits = 200

/** Members of a call or a result, beside its tool's name. */
const ofNamedTool = new Set([
  ...['arguments', 'input', 'args', 'parameters', 'action', 'code', 'operation'],
  ...['response', 'output', 'content', 'result'],
])
/** Members of a result that name its call. */
const callNames = ['tool_call_id', 'tool_use_id', 'toolUseId', 'call_id'] as const
const definitions = new Set(['tools', 'functions'])

/**
 * Finds the tool in whose arguments, result or description a passage stands. Null: in none, or it is not
 * named. `recorded`: the tool of a tool-call record.
 */
export function createToolFinder(
  call: Call,
  recorded: string | null,
): (evidence: Pick<Evidence, 'part' | 'pointer'>) => string | null {
  const isRecord = isToolCallRecord(call.request?.value)
  const namesById = keepFirst(() => namesOfCalls(call))
  return ({ part, pointer }) => {
    if (isRecord) return recorded === null ? null : storable(recorded)
    if (pointer === null) return null
    const body = part === 'request_body' ? call.request?.value : call.response?.value
    const name = nameOnTheWay(body, tokensOf(pointer), namesById)
    return name === undefined ? null : storable(name)
  }
}

/** The outermost: what stands in a tool's data is no other tool's. */
function nameOnTheWay(
  body: unknown,
  tokens: readonly string[],
  namesById: () => ReadonlyMap<string, string>,
): string | undefined {
  const isDefinition = definitions.has(tokens[0] ?? '')
  let value = body
  for (const token of tokens) {
    const name = textOf(fieldAt(value, 'name'))
    const isPerson = textOf(fieldAt(value, 'role')) !== undefined && fieldAt(value, 'role') !== 'tool'
    if (name !== undefined && !isPerson && (isDefinition || ofNamedTool.has(token))) return name
    const id = callNames.map((member) => textOf(fieldAt(value, member))).find((given) => given !== undefined)
    const named = id === undefined ? undefined : namesById().get(id)
    if (named !== undefined) return named
    value = childOf(value, token)
  }
  return undefined
}

/** Names by the identifiers of calls, which results alone repeat. */
function namesOfCalls({ request, response }: Call): Map<string, string> {
  const names = new Map<string, string>()
  const note = (call: unknown) => {
    const named = fieldAt(call, 'function') ?? fieldAt(call, 'toolUse') ?? call
    const name = textOf(fieldAt(named, 'name'))
    const id =
      textOf(fieldAt(call, 'call_id')) ?? textOf(fieldAt(call, 'id')) ?? textOf(fieldAt(named, 'toolUseId'))
    if (name !== undefined && id !== undefined) names.set(id, name)
  }
  for (const body of [request?.value, response?.value]) {
    const items = ['messages', 'input', 'output'].flatMap((member) => listOf(fieldAt(body, member)))
    for (const item of items) {
      note(item)
      listOf(fieldAt(item, 'tool_calls')).forEach(note)
      listOf(fieldAt(item, 'content')).forEach(note)
    }
  }
  return names
}

/** The value at a JSON pointer; undefined: there is none. */
export function valueAt(body: unknown, pointer: string): unknown {
  return tokensOf(pointer).reduce(childOf, body)
}

function tokensOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function childOf(value: unknown, token: string): unknown {
  return Array.isArray(value) ? (value as unknown[])[Number(token)] : fieldAt(value, token)
}

/** Text that Postgres takes, not too long. */
export function storable(text: string): string {
  return text.slice(0, maxNameUnits).toWellFormed().replaceAll('\u0000', '\uFFFD')
}
