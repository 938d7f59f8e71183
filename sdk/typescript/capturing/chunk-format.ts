import { allTexts } from '../../../capture/all-texts.ts'
import { fieldAt, listOf, objectOf, textOf } from '../../../capture/json.ts'
import { growsItem } from '../../../capture/streams/response-deltas.ts'

/** Stream formats of providers whose chunks programs yield from their own generators. */
export type ChunkFormat = 'chat' | 'completion' | 'candidates' | 'messages' | 'responses'

/**
 * The format of a chunk, if the assembly of that format reads all its text. Undefined when in doubt, as
 * programs have `choices`, `candidates` and events of their own.
 */
export function chunkFormat(value: unknown): ChunkFormat | undefined {
  const type = textOf(fieldAt(value, 'type')) ?? ''
  if (isMessageEvent(type, value)) return 'messages'
  if (isResponseEvent(type, value)) return 'responses'
  const candidates = listOf(fieldAt(value, 'candidates'))
  if (candidates.length > 0) return candidates.every(isCandidate) ? 'candidates' : undefined
  const choices = fieldAt(value, 'choices')
  if (!Array.isArray(choices)) return undefined
  if (fieldAt(value, 'object') === 'text_completion')
    return choices.every((choice) => typeof fieldAt(choice, 'text') === 'string') ? 'completion' : undefined
  return (choices.length === 0 ? hasNoChoices(value) : choices.every(isChoice)) ? 'chat' : undefined
}

/** A usage chunk, or Azure's first. */
function hasNoChoices(value: unknown): boolean {
  return (
    fieldAt(value, 'object') === 'chat.completion.chunk' ||
    objectOf(fieldAt(value, 'usage')) !== undefined ||
    Array.isArray(fieldAt(value, 'prompt_filter_results'))
  )
}

/** A choice with a message is a whole answer. Azure's filter sends verdicts with neither. */
function isChoice(choice: unknown): boolean {
  const isDelta =
    objectOf(fieldAt(choice, 'delta') ?? fieldAt(choice, 'content_filter_offsets')) !== undefined
  return isDelta && objectOf(fieldAt(choice, 'message')) === undefined
}

function isCandidate(candidate: unknown): boolean {
  const parts = fieldAt(candidate, 'content', 'parts')
  if (Array.isArray(parts)) return parts.every((part) => objectOf(part) !== undefined)
  // Google omits parts when there are only thoughts, and at the end.
  return (
    fieldAt(candidate, 'content', 'role') === 'model' ||
    textOf(fieldAt(candidate, 'finishReason')) !== undefined
  )
}

const messageDelta = /^(?:text|thinking|signature|input_json|citations|compaction)_delta$/

function isMessageEvent(type: string, value: unknown): boolean {
  const has = (name: string) => objectOf(fieldAt(value, name)) !== undefined
  switch (type) {
    case 'message_start':
      // Without a type nothing else is read, and later blocks replace its content.
      return (
        textOf(fieldAt(value, 'message', 'type')) !== undefined &&
        allTexts(fieldAt(value, 'message', 'content')).length === 0
      )
    case 'content_block_start':
      return has('content_block')
    case 'content_block_delta':
      return messageDelta.test(textOf(fieldAt(value, 'delta', 'type')) ?? '')
    case 'message_delta':
      return has('delta')
    case 'content_block_stop':
    case 'message_stop':
      return allTexts(besideType(value)).length === 0
    default:
      return false
  }
}

const ofResponse = /^response\.(?:created|queued|in_progress|completed|incomplete|failed)$/
const ofItem = /^response\.output_item\.(?:added|done)$/
/** Events that repeat deltas and items, or report a tool's progress. */
const besideItem =
  /^response\.(?:content_part|output_text|refusal|reasoning_[a-z_]+|[a-z_]+_call[a-z_]*|mcp_list_tools)\.(?:added|done|annotation\.added|in_progress|searching|interpreting|generating|completed|failed|partial_image)$/

function isResponseEvent(type: string, value: unknown): boolean {
  if (ofResponse.test(type)) return objectOf(fieldAt(value, 'response')) !== undefined
  if (ofItem.test(type)) return objectOf(fieldAt(value, 'item')) !== undefined
  if (growsItem(type)) return typeof fieldAt(value, 'delta') === 'string'
  return besideItem.test(type) && textOf(fieldAt(value, 'item_id')) !== undefined
}

/** Fields of an end event that are not read. Bedrock's metrics contain no text. */
function besideType(value: unknown): unknown[] {
  const entries = Object.entries(objectOf(value) ?? {})
  return entries.flatMap(([name, inner]) => (/^(?:type$|amazon-bedrock-)/.test(name) ? [] : [inner]))
}
