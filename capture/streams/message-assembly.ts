import { fieldAt, objectOf, textOf, type JsonObject } from '../json.ts'
import { givenValue } from './given-value.ts'
import { laterCounts } from './later-counts.ts'
import { entryAt, growing, growthIn, inOrder, listIn, type Growing } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

interface Block {
  fields: Growing
  /** JSON text of a tool's input, which arrives in chunks. */
  input: string
}

/** Anthropic messages: content blocks by index, with a delta type for each kind of block. */
export function createMessageAssembly(): StreamAssembly {
  const message = growing()
  const blocks = new Map<number, Block>()
  let stopped = false

  const blockOf = (chunk: JsonObject) =>
    entryAt(blocks, chunk['index'], () => ({ fields: growing(), input: '' }))

  const handlers: Readonly<Record<string, (chunk: JsonObject) => void>> = {
    message_start: (chunk) => {
      const { usage, ...fields } = objectOf(chunk['message']) ?? {}
      Object.assign(message, fields)
      // The first count is a placeholder: a truncated stream has no count.
      const counted = growing(objectOf(usage))
      Reflect.deleteProperty(counted, 'output_tokens')
      if (usage !== undefined) message['usage'] = counted
    },
    content_block_start: (chunk) => Object.assign(blockOf(chunk).fields, objectOf(chunk['content_block'])),
    content_block_delta: (chunk) => applyDelta(blockOf(chunk), chunk['delta']),
    message_delta: (chunk) => {
      Object.assign(message, objectOf(chunk['delta']))
      // Counts are cumulative. Some hosts send null or zero for missing ones.
      message['usage'] = laterCounts(message['usage'] ?? {}, chunk['usage'] ?? {})
    },
    message_stop: () => {
      stopped = true
    },
    error: (chunk) => {
      message['error'] = chunk['error']
    },
  }

  return {
    add(chunk) {
      const type = textOf(chunk['type']) ?? ''
      if (Object.hasOwn(handlers, type)) handlers[type]?.(chunk)
    },
    growthOf(chunk) {
      const text = fieldAt(chunk, 'delta', 'text')
      const block = blocks.get(chunk['index'] as number)
      const isText = fieldAt(chunk, 'delta', 'type') === 'text_delta' && typeof text === 'string'
      const isAlone = isText && Object.keys(chunk['delta'] as object).length === 2
      return isAlone && block !== undefined ? growthIn(block.fields, 'text', text) : undefined
    },
    body: () =>
      message['type'] === undefined
        ? { ...message }
        : { ...message, content: inOrder(blocks).map(blockBody) },
    ended: () => stopped,
  }
}

function applyDelta(block: Block, delta: unknown): void {
  const { fields } = block
  const grow = (name: string) => {
    const added = fieldAt(delta, name)
    if (typeof added === 'string') fields[name] = (textOf(fields[name]) ?? '') + added
  }
  switch (fieldAt(delta, 'type')) {
    case 'input_json_delta':
      block.input += textOf(fieldAt(delta, 'partial_json')) ?? ''
      break
    case 'citations_delta':
      listIn(fields, 'citations').push(fieldAt(delta, 'citation'))
      break
    case 'compaction_delta':
      // Complete rather than a chunk, as in Anthropic's client.
      Object.assign(fields, objectOf(delta), { type: 'compaction' })
      break
    default:
      // Including unknown types, so that no text of a stream is lost.
      for (const name of Object.keys(objectOf(delta) ?? {})) if (name !== 'type') grow(name)
  }
}

function blockBody({ fields, input }: Block): JsonObject {
  return input === '' ? fields : { ...fields, input: givenValue(input) }
}
