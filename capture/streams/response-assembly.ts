import { listOf, objectOf, textOf, type JsonObject } from '../json.ts'
import { entryAt, growing, grownFrom, inOrder, listIn, maxIndex, type Growing } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

/**
 * OpenAI responses: the last event carries the whole answer. Until it comes (or when it never does, or without items), the answer is
 * built from the items and deltas that came.
 */
export function createResponseAssembly(): StreamAssembly {
  let snapshot: JsonObject = {}
  let error: unknown
  let ended = false
  const items = new Map<number, Growing>()

  const itemOf = (chunk: JsonObject) => entryAt(items, chunk['output_index'], () => growing())

  return {
    add(chunk) {
      const type = textOf(chunk['type']) ?? ''
      const response = objectOf(chunk['response'])
      if (response !== undefined) [snapshot, error] = [response, undefined]
      if (type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed')
        ended = true
      else if (type === 'response.output_item.added' || type === 'response.output_item.done')
        Object.assign(itemOf(chunk), objectOf(chunk['item']))
      else if (type.endsWith('.delta')) applyDelta(itemOf(chunk), type, chunk)
      else if (type === 'error') error = objectOf(chunk['error']) ?? chunk
    },
    body() {
      const said = error === undefined ? snapshot : { ...snapshot, error }
      return ended && listOf(said['output']).length > 0 ? said : { ...said, output: inOrder(items) }
    },
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
    const parts = listIn(item, list)
    const at = placeIn(parts, chunk[index])
    const part = grownFrom(objectOf(parts[at]) ?? { type: kind })
    part[name] = (textOf(part[name]) ?? '') + delta
    parts[at] = part
    return
  }
  const name = fieldOfDelta.get(type)
  if (name !== undefined) item[name] = (textOf(item[name]) ?? '') + delta
}

/** Where the part of this index stands, or will: behind the last; beyond the bound it is the last. */
function placeIn(parts: readonly unknown[], index: unknown): number {
  const last = parts.length < maxIndex ? parts.length : parts.length - 1
  return Number.isInteger(index) ? Math.min(Math.max(index as number, 0), last) : 0
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
