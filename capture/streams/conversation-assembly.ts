import { objectOf, textOf } from '../json.ts'
import { entryAt, growing, inOrder, mergeDelta, type Growing } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

/** `message.output.delta`, `function.call.delta`, `tool.execution.started`: an entry's type and an event. */
const entryEvent = /^(message\.output|function\.call|tool\.execution|agent\.handoff)\./

export function isConversationEvent(type: string): boolean {
  return type.startsWith('conversation.response.') || entryEvent.test(type)
}

/**
 * Mistral's conversations: entries by index, with text and arguments in chunks; the last event has the usage.
 */
export function createConversationAssembly(): StreamAssembly {
  const top = growing({ object: 'conversation.response' })
  const entries = new Map<number, Growing>()
  let ended = false

  return {
    add(chunk) {
      const { type: given, output_index: index, ...fields } = chunk
      const type = textOf(given) ?? ''
      const entryType = entryEvent.exec(type)?.[1]
      if (entryType !== undefined) {
        const { content, arguments: more, ...rest } = fields
        const entry = entryAt(entries, index, growing)
        Object.assign(entry, rest, { type: entryType })
        Reflect.deleteProperty(entry, 'content_index')
        if (content !== undefined)
          mergeDelta(entry, { content: objectOf(content) === undefined ? content : [content] })
        if (more !== undefined) mergeDelta(entry, { arguments: more })
      } else if (type === 'conversation.response.error') top['error'] = fields
      else {
        Object.assign(top, fields)
        ended ||= type === 'conversation.response.done'
      }
    },
    body: () => ({ ...top, outputs: inOrder(entries) }),
    ended: () => ended,
  }
}
