import { fieldAt, objectOf, textOf, type JsonObject } from '../json.ts'
import { givenValue } from './given-value.ts'
import { entryAt, growing, inOrder, listIn, mergeDelta, type Growing } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

const events = ['messageStart', 'contentBlockStart', 'contentBlockDelta', 'messageStop'] as const

/** An event of Bedrock's Converse; Amazon's own models use the same. */
export function isConverseEvent(chunk: JsonObject): boolean {
  return events.some((name) => objectOf(chunk[name]) !== undefined)
}

/** Converse's answer as without streaming: content blocks by index; usage in the last event. */
export function createConverseAssembly(): StreamAssembly {
  const top = growing()
  const message = growing({ role: 'assistant' })
  const blocks = new Map<number, Growing>()
  let stopped = false

  const handlers: Readonly<Record<string, (event: JsonObject) => void>> = {
    messageStart: ({ role }) => {
      message['role'] = role ?? message['role']
    },
    contentBlockStart: (event) => grow(event, event['start']),
    contentBlockDelta: (event) => grow(event, event['delta']),
    messageStop: ({ p: _padding, ...fields }) => {
      stopped = true
      Object.assign(top, fields)
    },
    metadata: ({ p: _padding, ...fields }) => Object.assign(top, fields),
  }
  const grow = (event: JsonObject, added: unknown) => {
    const { citation, ...others } = objectOf(added) ?? {}
    const block = entryAt(blocks, event['contentBlockIndex'], growing)
    if (citation !== undefined) listIn(block, 'citations').push(citation)
    mergeDelta(block, others)
  }

  return {
    add(chunk) {
      for (const [name, value] of Object.entries(chunk)) {
        if (name === 'error') top['error'] = value
        else if (Object.hasOwn(handlers, name)) handlers[name]?.(objectOf(value) ?? {})
      }
    },
    body: () => ({ ...top, output: { message: { ...message, content: inOrder(blocks).map(blockBody) } } }),
    ended: () => stopped,
  }
}

/** Tool input arrives as chunks of JSON text; thoughts are nested one level deeper in the final format. */
function blockBody(block: Growing): JsonObject {
  const input = fieldAt(block, 'toolUse', 'input')
  const { text, signature, ...rest } = objectOf(block['reasoningContent']) ?? {}
  return {
    ...block,
    ...(block['toolUse'] === undefined
      ? {}
      : { toolUse: { ...objectOf(block['toolUse']), input: givenValue(textOf(input) ?? '{}') } }),
    ...(text === undefined && signature === undefined
      ? {}
      : { reasoningContent: { ...rest, reasoningText: { text, signature } } }),
  }
}
