import { fieldAt, listOf, objectOf, textOf } from '#capture/json.ts'
import { isPrediction } from '#capture/platform-answers.ts'
import { tracedResult } from '#capture/traced-result.ts'
import type { Speaker } from './find-speaker.ts'

/**
 * Who defines the names in a value. `protocol`: a provider, some of whose fields hold no prose. `own`: an
 * application or a tool, whose fields may hold anything. `returned`: a traced function, which may return a
 * model's answer. `documents`: a Cohere document, which has own names beside its `id`.
 */
export type Names = 'protocol' | 'own' | 'returned' | 'documents'

/** Fields whose strings belong to the protocol and are nobody's words. */
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

/** True for nobody's words. Among own names only the type of a part can be: a picture has no words. */
export function isProtocols(key: string, value: string, names: Names): boolean {
  if (names === 'protocol') return protocolKeys.has(key)
  if (names === 'documents' && key === 'id') return true
  if (key === 'type') return partTypes.has(value)
  return (key === 'mimeType' || key === 'media_type') && /^[a-z]{1,16}\/[a-z0-9.+-]{1,32}$/.test(value)
}

const partTypes = new Set(['text', 'image', 'audio', 'resource', 'resource_link', 'base64'])

/** Who defines the names of an answer. */
export function namesOfAnswer(request: unknown, response: unknown): Names {
  return tracedResult(request, response) === undefined ? 'protocol' : 'returned'
}

/** Who defines the names in a value; `names` is its container's. */
export function namesIn(value: unknown, names: Names): Names {
  return names === 'returned' && isModels(value) ? 'protocol' : names
}

/** Who defines the names in what `holder` has under `key`. */
export function namesOfKey(holder: unknown, key: string, names: Names): Names {
  if (names === 'documents') return Array.isArray(holder) ? names : 'own'
  return names === 'protocol' && key === 'documents' ? 'documents' : names
}

/**
 * True for a model's answer or message as returned by a provider's client. An application may also call a
 * field `messages` or `output`.
 */
function isModels(value: unknown): boolean {
  const object = objectOf(value)
  if (object === undefined) return false
  if (isMessage(object) || isMessage(object['message']) || isMessage(fieldAt(object, 'output', 'message')))
    return true
  if (isPrediction(object)) return true
  return marksOfLists.some(([name, marks]) => isMarked(listOf(object[name])[0], marks))
}

/** Names of answer lists and fields of their entries. Other entries have a known type or are messages. */
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

/** Types of parts, items and messages that models return. An application has its own, such as `article`. */
const partType =
  /^(?:text|image|refusal|reasoning|thinking|redacted_thinking|thought|message|ai|AIMessageChunk|human|tool|function)$|(?:_(?:text|image|url|audio|call|use|result|output|input)|^message\.\w+)$/

function isMessage(value: unknown): boolean {
  const message = objectOf(value)
  return typeof message?.['role'] === 'string' && ('content' in message || 'parts' in message)
}

/** True if `key` holds a tool's arguments or data: names inside are the tool's, not the protocol's. */
export function holdsToolsData(value: unknown, key: string, speaker: Speaker): boolean {
  const holder = objectOf(value)
  if (holder === undefined) return false
  if (key === 'arguments' || key === 'args' || key === 'structuredContent') return true
  if (key === 'input') return 'toolUseId' in holder || textOf(holder['type'])?.endsWith('tool_use') === true
  // Results of Bedrock and Cohere, and fields of Cohere documents.
  if (key === 'json' || key === 'outputs' || key === 'data') return speaker === 'tool'
  if (key === 'parameters') return speaker === 'assistant' && typeof holder['name'] === 'string'
  // Values for the placeholders of a stored prompt.
  if (key === 'variables') return typeof holder['id'] === 'string'
  if (key === 'result') return speaker === 'tool'
  return key === 'response' && (speaker === 'tool' || typeof holder['name'] === 'string')
}
