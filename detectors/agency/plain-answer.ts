import { fieldAt, listOf, objectOf, textOf, type JsonObject } from '#capture/json.ts'
import { newSteps } from '#capture/interaction-steps.ts'
import { isPrediction } from '#capture/platform-answers.ts'
import { isResultType, wordsOfResult } from '#capture/tool-results.ts'
import { holdsOnlyWords } from './only-words.ts'
import { besideParts, besideWords, callNames, quietFields, quietTypes } from './plain-names.ts'

/** Untyped parts of Gemini and Bedrock. */
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

/**
 * True if every part of an answer is of a known type that calls no tool. Providers report tools that they ran
 * in ever new types of parts, so an unknown type makes this false. Words, numbers and lists of them pass
 * under any name that is not one for calls; otherwise the output of every traced function would need a judge.
 * Objects nested in an application's own answer do not pass.
 */
export function isPlainAnswer(body: unknown): boolean {
  return isPlain(body, (held) => isPlain(held, () => false))
}

/** `isPlainInside`: for answers inside a member: traced functions, Bedrock, DashScope, Cloudflare. */
function isPlain(body: unknown, isPlainInside: (held: unknown) => boolean): boolean {
  return holdsOnlyWords(body) || isOfPlainParts(body, isPlainInside)
}

const lists = ['choices', 'candidates', 'output', 'outputs', 'content', 'data', 'steps', 'messages']

function isOfPlainParts(body: unknown, isPlainInside: (held: unknown) => boolean): boolean {
  const fields = objectOf(body)
  if (fields === undefined) return isPlainData('', body)
  const messages = [fields['message'], fieldAt(body, 'output', 'message')]
  const hasParts =
    messages.some((message) => objectOf(message) !== undefined) ||
    lists.some((name) => Array.isArray(fields[name]))
  return Object.entries(fields).every(([name, value]) => {
    if (quietFields.has(name) || (hasParts && besideParts.has(name))) return true
    // The request, repeated in the answer.
    if (name === 'input') return isPrediction(body) || isPlainData(name, value)
    if (typeof value !== 'object') return isPlainData(name, value)
    if (arePlainParts(name, value, body)) return true
    const isHolder = name === 'result' || (!Array.isArray(value) && (name === 'output' || name === 'data'))
    return isHolder && isPlainInside(value)
  })
}

/** Members in which known answers have their parts. */
function arePlainParts(name: string, value: unknown, body: unknown): boolean {
  if (name === 'message') return isPlainMessage(value)
  // Dify's workflows use own names for their outputs.
  if (name === 'outputs' && !Array.isArray(value)) return arePlainBesideWords(value)
  if (!Array.isArray(value) || !lists.includes(name)) return isPlainData(name, value)
  if (name === 'choices') return value.every(isPlainChoice)
  if (name === 'candidates') return value.every(isPlainCandidate)
  if (name === 'messages') return value.every(isPlainTurn)
  return arePlainItems(name === 'steps' ? newSteps(body) : (value as unknown[]))
}

function isPlainChoice(choice: unknown): boolean {
  const { message, delta, ...others } = objectOf(choice) ?? { choice }
  return [message, delta, others].every(isPlainMessage)
}

/** LangChain's stored messages have their words in `data`. */
function isPlainTurn(turn: unknown): boolean {
  const { data, ...others } = objectOf(turn) ?? { turn }
  return [data, others].every(isPlainMessage)
}

function isPlainCandidate(candidate: unknown): boolean {
  const { content, ...others } = objectOf(candidate) ?? { candidate }
  const { parts, ...beside } = objectOf(content) ?? { content }
  return arePlainParts('content', parts, null) && [beside, others].every(arePlainBesideWords)
}

function isPlainMessage(message: unknown): boolean {
  const { content, additional_kwargs: more, ...others } = objectOf(message) ?? { message }
  return arePlainParts('content', content, null) && [more, others].every(arePlainBesideWords)
}

function arePlainBesideWords(holder: unknown): boolean {
  return arePlainMembers(holder, besideWords)
}

function arePlainItems(items: readonly unknown[]): boolean {
  // An explicit stack: recursion would overflow at 5,000 levels.
  const stack = [...items]
  while (stack.length > 0) {
    const item = stack.pop()
    if (!isPlainItem(item)) return false
    // A tool's result calls nothing, whatever it contains.
    if (isResultType(fieldAt(item, 'type'))) continue
    const content = fieldAt(item, 'content')
    if (!Array.isArray(content) && !isPlainData('content', content)) return false
    for (const part of listOf(content)) stack.push(part)
  }
  return true
}

/** Apart from its content. */
function isPlainItem(item: unknown): boolean {
  const fields = objectOf(item)
  if (fields === undefined) return isPlainData('', item)
  const type = textOf(fields['type'])
  if (type !== undefined) return isResultType(type) || quietTypes.has(type)
  if (Object.keys(fields).every((name) => quietMembers.has(name))) return true
  return isOfData(fields) && arePlainMembers(fields, besideData)
}

/** A vector, a picture, or a conversation entry without a type. */
function isOfData(fields: JsonObject): boolean {
  return dataNames.some((name) => name in fields) || typeof fields['content'] === 'string'
}

const dataNames = ['embedding', 'b64_json', 'url']
const besideData: ReadonlySet<string> = new Set([...dataNames, ...besideWords])

function arePlainMembers(holder: unknown, quiet: ReadonlySet<string>): boolean {
  return Object.entries(objectOf(holder) ?? { holder }).every(
    ([name, value]) => quiet.has(name) || isPlainData(name, value),
  )
}

/** A program's own word, such as an error code. */
const oneWord = /^[\w.:-]{0,64}$/

/** Numbers, words and lists of them. An object may be anything, also a call. */
function isPlainData(name: string, data: unknown): boolean {
  const isOfCall = callNames.has(name.toLowerCase())
  const stack = [data]
  while (stack.length > 0) {
    const value = stack.pop()
    if (Array.isArray(value)) for (const entry of value as unknown[]) stack.push(entry)
    else if (typeof value === 'object' && value !== null) return false
    else if (isOfCall && typeof value === 'string' && !(name === 'code' && oneWord.test(value))) return false
  }
  return true
}
