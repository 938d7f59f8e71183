import { fieldAt, objectOf, textOf } from '../json.ts'
import { entryAt, growing, inOrder, mergeDelta, type Growing } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

/**
 * Cohere v2 chat: `message-start`; content, tool plan, tool calls and citations by index; `message-end` with
 * the usage.
 */
export function createCohereAssembly(): StreamAssembly {
  const top = growing()
  const message = growing({ role: 'assistant' })
  const lists = { content: entries(), tool_calls: entries(), citations: entries() }
  let ended = false

  return {
    add(chunk) {
      const type = textOf(chunk['type'])
      const delta = objectOf(chunk['delta']) ?? {}
      if (type === 'message-start') {
        if (chunk['id'] !== undefined) top['id'] = chunk['id']
        message['role'] = fieldAt(delta, 'message', 'role') ?? message['role']
      } else if (type === 'message-end') {
        ended = true
        Object.assign(top, delta)
      } else if (type === 'tool-plan-delta') {
        mergeDelta(message, { tool_plan: fieldAt(delta, 'message', 'tool_plan') })
      } else {
        for (const [name, list] of Object.entries(lists)) {
          const part = objectOf(fieldAt(delta, 'message', name))
          if (part !== undefined) mergeDelta(entryAt(list, chunk['index'], growing), part)
        }
      }
    },
    body: () => ({ ...top, message: { ...message, ...grown(lists) } }),
    ended: () => ended,
  }
}

function entries(): Map<number, Growing> {
  return new Map()
}

/** The non-empty lists. */
function grown(lists: Readonly<Record<string, Map<number, Growing>>>): Record<string, Growing[]> {
  const some = Object.entries(lists).filter(([name, list]) => name === 'content' || list.size > 0)
  return Object.fromEntries(some.map(([name, list]) => [name, inOrder(list)]))
}
