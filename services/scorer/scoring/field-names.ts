import { fieldAt, listOf, objectOf, textOf } from '#capture/json.ts'
import { isPrediction } from '#capture/platform-answers.ts'
import { tracedResult } from '#capture/traced-result.ts'
import type { Speaker } from './find-speaker.ts'

/**
 * Whose the names in a value are: a provider's protocol, which says nothing under some of them; an application's or a tool's own, under which it may say
 * anything. What a traced function returned has its own, and may have a model's answer in it; a document of Cohere's has them beside its `id`.
 */
export type Names = 'protocol' | 'own' | 'returned' | 'documents'

/** Names whose strings are the protocol's, not somebody's words. */
const protocolKeys = new Set([
  ...[
    'id',
    'object',
    'model',
    'type',
    'role',
    'finish_reason',
    'stop_reason',
    'system_fingerprint',
    'service_tier',
  ],
  ...[
    'tool_call_id',
    'tool_use_id',
    'toolUseId',
    'call_id',
    'response_format',
    'media_type',
    'encoding',
    'status',
    'sha256',
  ],
  ...['logprobs', 'encrypted_content', 'signature', 'usage', 'metadata', 'reasoning_effort', 'tool_choice'],
  ...['previous_response_id', 'item_id', 'detail', 'cache_control', 'stop', 'stream_options', 'user'],
])

/** Whether a string is nobody's words. Of names of one's own that is only what kind of part one is: a result that is a picture has no words. */
export function isProtocols(key: string, value: string, names: Names): boolean {
  if (names === 'protocol') return protocolKeys.has(key)
  if (names === 'documents' && key === 'id') return true
  if (key === 'type') return partTypes.has(value)
  return (key === 'mimeType' || key === 'media_type') && /^[a-z]{1,16}\/[a-z0-9.+-]{1,32}$/.test(value)
}

const partTypes = new Set(['text', 'image', 'audio', 'resource', 'resource_link', 'base64'])

/** Whose the names of an answer are. */
export function namesOfAnswer(request: unknown, response: unknown): Names {
  return tracedResult(request, response) === undefined ? 'protocol' : 'returned'
}

/** Whose the names of a value are, where those of what it stands in are `names`. */
export function namesIn(value: unknown, names: Names): Names {
  return names === 'returned' && isModels(value) ? 'protocol' : names
}

/** Whose the names are in what `holder` has under `key`. */
export function namesOfKey(holder: unknown, key: string, names: Names): Names {
  if (names === 'documents') return Array.isArray(holder) ? names : 'own'
  return names === 'protocol' && key === 'documents' ? 'documents' : names
}

/** Whether it is a model's answer or a message, as providers' clients return them: an application may call things of its own `messages` or `output`, too. */
function isModels(value: unknown): boolean {
  const object = objectOf(value)
  if (object === undefined) return false
  if (isMessage(object) || isMessage(object['message']) || isMessage(fieldAt(object, 'output', 'message')))
    return true
  if (isPrediction(object)) return true
  return marksOfLists.some(([name, marks]) => isMarked(listOf(object[name])[0], marks))
}

/** The lists of answers, and what their entries have; others have a known type or are messages. */
const marksOfLists: readonly (readonly [name: string, marks: readonly string[]])[] = [
  ['choices', ['message', 'delta', 'text']],
  ['candidates', ['content']],
  ...['content', 'output', 'outputs', 'messages', 'steps'].map((name) => [name, []] as const),
]

function isMarked(entry: unknown, marks: readonly string[]): boolean {
  const fields = objectOf(entry)
  if (fields === undefined) return false
  return (
    partType.test(textOf(fields['type']) ?? '') || isMessage(fields) || marks.some((name) => name in fields)
  )
}

/** Kinds of parts, items and messages that models answer with; an application has kinds of its own, `article` or `manual`. */
const partType =
  /^(?:text|image|refusal|reasoning|thinking|redacted_thinking|thought|message|ai|AIMessageChunk|human|tool|function)$|(?:_(?:text|image|url|audio|call|use|result|output|input)|^message\.\w+)$/

function isMessage(value: unknown): boolean {
  const message = objectOf(value)
  return typeof message?.['role'] === 'string' && ('content' in message || 'parts' in message)
}

/** Whether what stands under `key` is a tool's arguments or data: names in there are the tool's, not the protocol's. */
export function holdsToolsData(value: unknown, key: string, speaker: Speaker): boolean {
  const holder = objectOf(value)
  if (holder === undefined) return false
  if (key === 'arguments' || key === 'args' || key === 'structuredContent') return true
  if (key === 'input') return 'toolUseId' in holder || textOf(holder['type'])?.endsWith('tool_use') === true
  // Bedrock's and Cohere's results, and the fields of Cohere's documents.
  if (key === 'json' || key === 'outputs' || key === 'data') return speaker === 'tool'
  if (key === 'parameters') return speaker === 'assistant' && typeof holder['name'] === 'string'
  // What the application fills a kept prompt with.
  if (key === 'variables') return typeof holder['id'] === 'string'
  if (key === 'result') return speaker === 'tool'
  return key === 'response' && (speaker === 'tool' || typeof holder['name'] === 'string')
}
