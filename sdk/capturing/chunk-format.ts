import { allTexts } from '../../capture/all-texts.ts'
import { fieldAt, listOf, objectOf, textOf } from '../../capture/json.ts'
import { growsItem } from '../../capture/streams/response-deltas.ts'

/** Of providers' streams, whose chunks programs pass on in generators of their own. */
export type ChunkFormat = 'chat' | 'completion' | 'candidates' | 'messages' | 'responses'

/**
 * Of which format `value` is a chunk that the assembly of that format takes all words of. Programs have `choices`, `candidates` and events of
 * their own: undefined where there is a doubt.
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

/** A chunk of usage, or Azure's first. */
function hasNoChoices(value: unknown): boolean {
  return (
    fieldAt(value, 'object') === 'chat.completion.chunk' ||
    objectOf(fieldAt(value, 'usage')) !== undefined ||
    Array.isArray(fieldAt(value, 'prompt_filter_results'))
  )
}

/** One with a message is a whole answer; the filter of Azure sends its verdicts without either. */
function isChoice(choice: unknown): boolean {
  const isDelta =
    objectOf(fieldAt(choice, 'delta') ?? fieldAt(choice, 'content_filter_offsets')) !== undefined
  return isDelta && objectOf(fieldAt(choice, 'message')) === undefined
}

function isCandidate(candidate: unknown): boolean {
  const parts = fieldAt(candidate, 'content', 'parts')
  if (Array.isArray(parts)) return parts.every((part) => objectOf(part) !== undefined)
  // Google's have none where there are only thoughts, or at the end.
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
      // Of one without a type nothing else is read, and the blocks that come take the place of what it has.
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
/** They say again what deltas and items have said, or how far a tool is. */
const besideItem =
  /^response\.(?:content_part|output_text|refusal|reasoning_[a-z_]+|[a-z_]+_call[a-z_]*|mcp_list_tools)\.(?:added|done|annotation\.added|in_progress|searching|interpreting|generating|completed|failed|partial_image)$/

function isResponseEvent(type: string, value: unknown): boolean {
  if (ofResponse.test(type)) return objectOf(fieldAt(value, 'response')) !== undefined
  if (ofItem.test(type)) return objectOf(fieldAt(value, 'item')) !== undefined
  if (growsItem(type)) return typeof fieldAt(value, 'delta') === 'string'
  return besideItem.test(type) && textOf(fieldAt(value, 'item_id')) !== undefined
}

/** What is not read of an end. Bedrock's measures are no words. */
function besideType(value: unknown): unknown[] {
  const entries = Object.entries(objectOf(value) ?? {})
  return entries.flatMap(([name, inner]) => (/^(?:type$|amazon-bedrock-)/.test(name) ? [] : [inner]))
}
