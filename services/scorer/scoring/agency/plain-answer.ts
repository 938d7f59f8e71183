import { fieldAt, listOf, objectOf, textOf } from '#capture/json.ts'
import { newSteps } from '#capture/interaction-steps.ts'
import { toolCallsOf } from '#capture/tool-calls.ts'
import { isResultType, wordsOfResult } from '#capture/tool-results.ts'
import { holdsOnlyWords } from './only-words.ts'

/** Types of items and parts that say, think, show or bring something and call nothing. */
const quietTypes: ReadonlySet<string> = new Set([
  ...[
    'message',
    'message.output',
    'model_output',
    'user_input',
    'reasoning',
    'thought',
    'text',
    'output_text',
  ],
  ...['summary_text', 'reasoning_text', 'refusal', 'thinking', 'redacted_thinking', 'compaction', 'fallback'],
  ...[
    'image',
    'image_url',
    'output_image',
    'audio',
    'output_audio',
    'video',
    'file',
    'document',
    'reference',
  ],
  ...['image_file', 'container_upload', 'additional_tools', 'mcp_approval_response', 'tool_reference', 'ai'],
  ...['human', 'system', 'tool', 'context_compaction', 'tool_file', 'document_url'],
])
/** Members of parts that have no type: Gemini's and Bedrock's. */
const quietMembers: ReadonlySet<string> = new Set([
  ...['text', 'thought', 'thoughtSignature', 'thought_signature', 'inlineData', 'inline_data', 'fileData'],
  ...['file_data', 'videoMetadata', 'video_metadata', 'mediaResolution', 'partMetadata', 'speechMetadata'],
  ...[
    'audioTranscription',
    'mediaProcessing',
    'reasoningContent',
    'citationsContent',
    'image',
    'video',
    'audio',
  ],
  ...['guardContent', 'document', 'searchResult', 'toolResult', 'cachePoint', ...wordsOfResult.keys()],
])
/** Lists of objects beside the words of a message. */
const quietLists: ReadonlySet<string> = new Set([
  ...[
    'annotations',
    'citations',
    'reasoning_details',
    'thinking_blocks',
    'images',
    'audio',
    'search_results',
  ],
  ...['reasoning', 'logprobs', 'documents', 'tool_calls', 'content'],
])
/** What stands in an answer beside its words, in any shape. */
const quietFields: ReadonlySet<string> = new Set([
  ...['usage', 'metadata', 'error', 'urls', 'metrics', 'input', 'meta', 'citations', 'search_results'],
  ...['chat_history', 'search_queries', 'documents', 'detail', 'timings', 'retriever_resources'],
])

/**
 * Whether all that an answer consists of is of a known kind that calls no tool. What providers run themselves they say in parts and items of ever new
 * kinds: of an answer with one that is not known nobody can say that it calls nothing.
 */
export function isPlainAnswer(body: unknown): boolean {
  return isOfPlainParts(body) || holdsOnlyWords(body) || isOfPlainResult(body)
}

/** What a traced function gave back, where that is a model's answer. Calls are looked for where answers have them, and not in a result. */
function isOfPlainResult(body: unknown): boolean {
  const result = fieldAt(body, 'result')
  const isTrace = Object.keys(objectOf(body) ?? {}).length === 1 && typeof result === 'object'
  return (
    isTrace && toolCallsOf(null, result).length === 0 && (isOfPlainParts(result) || holdsOnlyWords(result))
  )
}

function isOfPlainParts(body: unknown): boolean {
  const candidates = listOf(fieldAt(body, 'candidates')).flatMap((candidate) =>
    listOf(fieldAt(candidate, 'content', 'parts')),
  )
  const messages = [
    ...listOf(fieldAt(body, 'choices')).map((choice) => fieldAt(choice, 'message') ?? choice),
    ...listOf(fieldAt(body, 'messages')),
    ...[fieldAt(body, 'message'), fieldAt(body, 'output', 'message')],
  ].filter((message) => objectOf(message) !== undefined)
  const items = [
    ...['output', 'outputs', 'content', 'data'].flatMap((name) => listOf(fieldAt(body, name))),
    ...newSteps(body),
    ...candidates,
  ]
  return messages.every(isPlainMessage) && arePlainItems(items) && hasNoOtherLists(body)
}

function isPlainMessage(message: unknown): boolean {
  return (
    arePlainItems(listOf(fieldAt(message, 'content'))) &&
    Object.entries(objectOf(message) ?? {}).every(
      ([name, value]) => quietLists.has(name) || !holdsObjects(value),
    )
  )
}

function arePlainItems(items: readonly unknown[]): boolean {
  // A stack of its own: parts that stand 5,000 deep in each other would throw.
  const stack = [...items]
  while (stack.length > 0) {
    const item = stack.pop()
    if (!isPlainItem(item)) return false
    // What a tool gave calls nothing, whatever it consists of.
    if (isResultType(fieldAt(item, 'type'))) continue
    for (const part of listOf(fieldAt(item, 'content'))) stack.push(part)
  }
  return true
}

/** Without what stands in its content. */
function isPlainItem(item: unknown): boolean {
  const fields = objectOf(item)
  if (fields === undefined) return true
  const type = textOf(fields['type'])
  if (type !== undefined) return isResultType(type) || quietTypes.has(type)
  return isOfData(fields) || Object.keys(fields).every((name) => quietMembers.has(name))
}

/** A vector, a picture, an entry of a conversation without a type. */
function isOfData(fields: Readonly<Record<string, unknown>>): boolean {
  return (
    'embedding' in fields || 'b64_json' in fields || 'url' in fields || typeof fields['content'] === 'string'
  )
}

/** Of an answer in no known shape: lists of objects may be of anything, calls as well. */
function hasNoOtherLists(body: unknown): boolean {
  const known = [
    'choices',
    'candidates',
    'output',
    'outputs',
    'content',
    'data',
    'steps',
    'message',
    'messages',
  ]
  const fields = Object.entries(objectOf(body) ?? {})
  if (fields.some(([name]) => known.includes(name))) return true
  if (Array.isArray(body)) return !holdsLists([body])
  return !holdsLists(fields.filter(([name]) => !quietFields.has(name)).map(([, value]) => value))
}

/** Whether any of the values is a list with objects in it or has one, at whatever depth. */
function holdsLists(values: readonly unknown[]): boolean {
  const stack = [...values]
  while (stack.length > 0) {
    const value = stack.pop()
    if (holdsObjects(value)) return true
    const inner = Array.isArray(value) ? value : Object.values(objectOf(value) ?? {})
    for (const child of inner as unknown[]) if (typeof child === 'object' && child !== null) stack.push(child)
  }
  return false
}

function holdsObjects(value: unknown): boolean {
  return listOf(value).some((entry) => objectOf(entry) !== undefined)
}
