import { listOf, objectOf, textOf, type JsonObject } from '../json.ts'
import { entryAt, growing, inOrder, type Growing } from './merge-delta.ts'
import { applyToItem, isOfItem, isSpoken } from './response-deltas.ts'
import type { StreamAssembly } from './stream-assembly.ts'

/** `response.done` is Realtime's. */
const ends: ReadonlySet<string> = new Set([
  ...['response.completed', 'response.incomplete', 'response.failed', 'response.done'],
])

/**
 * OpenAI responses: the last event carries the whole answer. Without it, or if it has no items, the answer is
 * built from items and deltas.
 */
export function createResponseAssembly(): StreamAssembly {
  let snapshot: JsonObject = {}
  let error: unknown
  let ended = false
  const items = new Map<number, Growing>()

  const itemOf = (chunk: JsonObject) => entryAt(items, chunk['output_index'], () => growing())
  const spokenOf = (chunk: JsonObject) => {
    if (chunk['output_index'] !== undefined) return itemOf(chunk)
    const said = inOrder(items).find((item) => item['type'] === 'message')
    return said ?? itemOf({ output_index: items.size })
  }

  return {
    add(chunk) {
      const type = textOf(chunk['type']) ?? ''
      const response = objectOf(chunk['response'])
      if (response !== undefined) [snapshot, error] = [response, undefined]
      if (ends.has(type)) ended = true
      else if (type === 'response.output_item.added' || type === 'response.output_item.done')
        Object.assign(itemOf(chunk), objectOf(chunk['item']))
      else if (isOfItem(type)) applyToItem(isSpoken(type) ? spokenOf(chunk) : itemOf(chunk), type, chunk)
      else if (type === 'error') error = objectOf(chunk['error']) ?? chunk
    },
    body() {
      const said = error === undefined ? snapshot : { ...snapshot, error }
      return ended && listOf(said['output']).length > 0 ? said : { ...said, output: inOrder(items) }
    },
    ended: () => ended,
  }
}
