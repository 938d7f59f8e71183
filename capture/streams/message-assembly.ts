import { fieldAt, objectOf, textOf, type JsonObject } from '../json.ts'
import { givenValue } from './given-value.ts'
import { entryAt, growing, grownFrom, growthIn, inOrder, listIn, type Growing } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

interface Block {
  fields: Growing
  /** JSON text of a tool's input, which comes in pieces. */
  input: string
}

/** Anthropic messages: content blocks by index, each grown by its own kind of delta. */
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
      // What it says of the output is a placeholder: a stream that is cut off has no count of it.
      if (usage !== undefined) message['usage'] = knownCounts(usage, ([name]) => name !== 'output_tokens')
    },
    content_block_start: (chunk) => Object.assign(blockOf(chunk).fields, objectOf(chunk['content_block'])),
    content_block_delta: (chunk) => applyDelta(blockOf(chunk), chunk['delta']),
    message_delta: (chunk) => {
      Object.assign(message, objectOf(chunk['delta']))
      // The counts are cumulative; the later ones replace those of the start. Some hosts send null for those that they leave out.
      const counted = knownCounts(chunk['usage'], ([, value]) => value !== null)
      message['usage'] = Object.assign(grownFrom(message['usage']), counted)
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

function knownCounts(usage: unknown, isKnown: (entry: [string, unknown]) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(objectOf(usage) ?? {}).filter(isKnown))
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
      // Whole, and not a piece: as Anthropic's own client takes it.
      Object.assign(fields, objectOf(delta), { type: 'compaction' })
      break
    default:
      for (const name of ['text', 'thinking', 'signature']) grow(name)
  }
}

function blockBody({ fields, input }: Block): JsonObject {
  return input === '' ? fields : { ...fields, input: givenValue(input) }
}
