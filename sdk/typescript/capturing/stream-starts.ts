import { fieldAt, listOf, objectOf, textOf } from '../../../capture/json.ts'
import { chunkFormat, type ChunkFormat } from './chunk-format.ts'

/** Detects the first chunk of each stream, as agents yield one stream per turn. */
export interface StreamStarts {
  /** Undefined for what is no chunk, or has text that the message may lack. */
  isStart(chunk: unknown): boolean | undefined
}

interface Stream {
  format: ChunkFormat
  id: string | undefined
  /** Events that occur once per stream, and types of deltas so far. */
  seen: Set<string>
}

export function createStreamStarts(): StreamStarts {
  let stream: Stream | undefined
  return {
    isStart(chunk) {
      if (stream !== undefined && belongsToStream(chunk, stream))
        return fieldAt(chunk, 'type') === 'error' ? afterError(stream) : false
      const format = chunkFormat(chunk)
      if (format === undefined) return undefined
      const type = textOf(fieldAt(chunk, 'type')) ?? ''
      const id = textOf(fieldAt(chunk, 'id')) ?? textOf(fieldAt(chunk, 'responseId'))
      const once = comesOnce(type, chunk)
      const isSame =
        stream?.format === format &&
        !begins.has(type) &&
        !isOfNext(id, stream) &&
        !stream.seen.has(once) &&
        !stream.seen.has(ended)
      if (stream === undefined || !isSame) {
        // Deltas without a message_start are dropped by the assembly.
        if (format === 'messages' && type !== 'message_start') return undefined
        stream = { format, id, seen: new Set() }
      }
      if (isSame && id !== undefined && id === stream.id) stream.seen.add(repeated)
      stream.id = id ?? stream.id
      if (once !== '') stream.seen.add(once)
      if (type.endsWith('.delta')) stream.seen.add(type)
      if (isFinish(chunk)) stream.seen.add(finished)
      return endsText.test(type) && !hadDelta(type, chunk, stream) ? undefined : !isSame
    },
  }
}

const begins: ReadonlySet<string> = new Set(['message_start', 'response.created'])
const ended = 'response ended'
const finished = 'chat finished'
const failed = 'error'
const repeated = 'id repeated'

/** A second error would replace the first, and so would a following response. */
function afterError({ format, seen }: Stream): false | undefined {
  if (seen.has(failed)) return undefined
  seen.add(failed)
  if (format === 'responses') seen.add(ended)
  return false
}

/**
 * Some hosts give each chunk its own id, so another id counts only after one was repeated or the chat has
 * finished.
 */
function isOfNext(id: string | undefined, { id: own, seen }: Stream): boolean {
  const isAnother = id !== undefined && own !== undefined && id !== own
  return isAnother && (seen.has(finished) || seen.has(repeated))
}

function isFinish(chunk: unknown): boolean {
  const ends = [...listOf(fieldAt(chunk, 'choices')), ...listOf(fieldAt(chunk, 'candidates'))]
  return ends.some(
    (end) => textOf(fieldAt(end, 'finish_reason') ?? fieldAt(end, 'finishReason')) !== undefined,
  )
}
const endsText = /^response\.(?!output_item\.).*\.done$/

/** Whether deltas of a complete text came before. A part's type tells which deltas. */
function hadDelta(type: string, chunk: unknown, { seen }: Stream): boolean {
  const part = textOf(fieldAt(chunk, 'part', 'type')) ?? ''
  const deltas = [
    type.replace(/done$/, 'delta'),
    `response.${part}.delta`,
    `response.reasoning_${part}.delta`,
  ]
  return deltas.some((delta) => seen.has(delta))
}

/** Chunks that belong to the previous stream and start none. */
function belongsToStream(chunk: unknown, { format }: Stream): boolean {
  const type = fieldAt(chunk, 'type')
  if (type === 'ping') return Object.keys(objectOf(chunk) ?? {}).length === 1
  if (type === 'error') {
    const isOfResponses = format === 'responses' && textOf(fieldAt(chunk, 'message')) !== undefined
    const isOfBoth = format === 'messages' || format === 'responses'
    return isOfResponses || (isOfBoth && objectOf(fieldAt(chunk, 'error')) !== undefined)
  }
  const isOfChat = format === 'chat' && Array.isArray(fieldAt(chunk, 'choices'))
  if (isOfChat) return listOf(fieldAt(chunk, 'choices')).length === 0 && chunkFormat(chunk) === 'chat'
  if (format !== 'candidates' || fieldAt(chunk, 'candidates') !== undefined) return false
  return objectOf(fieldAt(chunk, 'usageMetadata')) !== undefined
}

/** A key for events that replace an earlier one; empty for others. */
function comesOnce(type: string, chunk: unknown): string {
  switch (type) {
    case 'content_block_start':
      return `${type} ${String(fieldAt(chunk, 'index'))}`
    case 'response.output_item.added':
    case 'response.output_item.done':
      return `${type} ${String(fieldAt(chunk, 'output_index'))}`
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      return ended
    default:
      return ''
  }
}
