import { fieldAt, listOf, objectOf, textOf, type JsonObject } from '../json.ts'
import { entryAt, growing, inOrder, type Growing } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

/**
 * OpenAI responses: the last event carries the whole answer. Until it comes (or when it never does, or without items), the answer is
 * built from the items and deltas that came.
 */
export function createResponseAssembly(): StreamAssembly {
  let snapshot: JsonObject = {}
  let ended = false
  const items = new Map<number, Growing>()

  const itemOf = (chunk: JsonObject) => entryAt(items, chunk['output_index'], () => growing())

  return {
    add(chunk) {
      const type = textOf(chunk['type']) ?? ''
      const response = objectOf(chunk['response'])
      if (response !== undefined) snapshot = response
      if (type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed')
        ended = true
      else if (type === 'response.output_item.added' || type === 'response.output_item.done')
        Object.assign(itemOf(chunk), objectOf(chunk['item']))
      else if (type.endsWith('.delta')) applyDelta(itemOf(chunk), type, chunk)
      else if (type === 'error') snapshot = { ...snapshot, error: objectOf(chunk['error']) ?? chunk }
    },
    body: () =>
      ended && listOf(snapshot['output']).length > 0 ? snapshot : { ...snapshot, output: inOrder(items) },
    ended: () => ended,
  }
}

/** Whether the text of a delta of this type is read. */
export function growsItem(type: string): boolean {
  return partOfDelta.has(type) || fieldOfDelta.has(type)
}

function applyDelta(item: Growing, type: string, chunk: JsonObject): void {
  const delta = chunk['delta']
  if (typeof delta !== 'string') return
  const place = partOfDelta.get(type)
  if (place !== undefined) {
    const { list, index, kind, name } = place
    const parts = [...listOf(item[list])]
    const at = Math.min(typeof chunk[index] === 'number' ? chunk[index] : 0, parts.length)
    const part = objectOf(parts[at]) ?? { type: kind }
    parts[at] = { ...part, [name]: (textOf(fieldAt(part, name)) ?? '') + delta }
    item[list] = parts
    return
  }
  const name = fieldOfDelta.get(type)
  if (name !== undefined) item[name] = (textOf(item[name]) ?? '') + delta
}

/** Which part of an item grows by a delta: in which list, by which index, of which kind, and under which name its words are. */
const partOfDelta: ReadonlyMap<string, { list: string; index: string; kind: string; name: string }> = new Map(
  [
    ['response.output_text.delta', 'content', 'content_index', 'output_text', 'text'],
    ['response.refusal.delta', 'content', 'content_index', 'refusal', 'refusal'],
    ['response.reasoning_text.delta', 'content', 'content_index', 'reasoning_text', 'text'],
    ['response.reasoning_summary_text.delta', 'summary', 'summary_index', 'summary_text', 'text'],
  ].map(([type = '', list = '', index = '', kind = '', name = '']) => [type, { list, index, kind, name }]),
)
/** Which field of a call grows by a delta. */
const fieldOfDelta: ReadonlyMap<string, string> = new Map([
  ['response.function_call_arguments.delta', 'arguments'],
  ['response.mcp_call_arguments.delta', 'arguments'],
  ['response.custom_tool_call_input.delta', 'input'],
  ['response.code_interpreter_call_code.delta', 'code'],
])
