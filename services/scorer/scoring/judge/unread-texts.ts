import { fieldAt, listOf, textOf } from '#capture/json.ts'
import { isToolCallRecord } from '#capture/tool-calls.ts'
import { isBytes, sourceKeys, wordsOfSource } from '#capture/tool-results.ts'
import { isKeptWhole, type Call, type CallText } from '../call-text.ts'
import { seenTexts, type SeenTexts } from './seen-texts.ts'

/** Where a text of a call belongs. */
type Place = 'request' | 'answer' | 'thoughts' | 'system_prompt' | 'context'

/** What is shown of each already; `offered` are the texts of tools. */
export type ReadTexts = Readonly<
  Record<'request' | 'answer' | 'system_prompt' | 'context' | 'offered', string[]>
>

/** What else detectors read. */
export type UnreadTexts = Record<Place, string[]>

const mostLabelUnits = 40
const mostPointerUnits = 2_000

/**
 * Whatever detectors read of a call and the judge would not be shown: providers have ever new places for words, and a verdict on words that nobody
 * was shown is none. Each text comes with the name that it has in the call, to tell it from what was said. About `most` units of each kind, and more
 * where there are more: what is too long is cut where it is shown, and that is said.
 */
export function unreadTexts(call: Call, read: ReadTexts, most: number): UnreadTexts {
  const found: UnreadTexts = { request: [], answer: [], thoughts: [], system_prompt: [], context: [] }
  const isSeen = seenIn(read, most)
  const units = new Map<Place, number>()
  const placeOf = placing(call)
  for (const given of call.texts) {
    // Pointers share their beginnings until they are looked into: those of 40,000 levels would take 1.8 GB.
    if (given.pointer.length > mostPointerUnits) continue
    const place = placeOf(given)
    if (place === null || (units.get(place) ?? 0) > most || saysNothing(given.text)) continue
    if (isSeen(place, given)) continue
    const labelled = `[${nameOf(given.pointer)}: ${given.text}]`
    units.set(place, (units.get(place) ?? 0) + labelled.length)
    found[place].push(labelled)
  }
  return found
}

/** Whether a text is shown where it belongs; sources are shown with the answer that names them, or as what a tool has found. What was not is known from then on. */
function seenIn(read: ReadTexts, most: number): (place: Place, text: CallText) => boolean {
  const offered = seenTexts(read.offered, most)
  const answer = seenTexts(read.answer, most)
  const context = seenTexts(read.context, most)
  const seen: Record<Place, SeenTexts> = {
    request: seenTexts(read.request, most),
    answer,
    thoughts: answer,
    system_prompt: seenTexts(read.system_prompt, most),
    context,
  }
  return (place, { text, speaker }) => {
    // It is cut, and said to be.
    if (seen[place].isFull() || (place === 'system_prompt' && offered.isFull())) return true
    if (seen[place].has(text)) return true
    if (speaker === 'tool' && context.has(text)) return true
    if (place !== 'answer' && place !== 'thoughts' && offered.has(text)) return true
    seen[place].add(text)
    return false
  }
}

/** Null: it is shown as a turn, or stands in the answer again. Of a body that was cut all that there is was read. */
function placing({ request, response }: Call): (text: CallText) => Place | null {
  const isRecord = isToolCallRecord(request?.value)
  const [asksWhole, answersWhole] = [isKeptWhole(request?.value), isKeptWhole(response?.value)]
  const isEarlier = earlierIn(response?.value)
  return (text) => {
    if (text.part === 'request_body') return isRecord || !asksWhole ? null : placeInRequest(text)
    if (!answersWhole || isEarlier(text.pointer)) return null
    if (isRecord) return 'answer'
    return placeInAnswer(text, response?.value)
  }
}

const placesInRequest = {
  user: 'request',
  system: 'system_prompt',
  tool: 'context',
  assistant: null,
} as const

function placeInRequest({ speaker, pointer, text }: CallText): Place | null {
  const [, name = ''] = pointer.split('/', 2)
  return settings.has(name) && !/\s/.test(text) ? null : placesInRequest[speaker]
}

function placeInAnswer({ speaker, pointer }: CallText, body: unknown): Place | null {
  const names = pointer.split('/').slice(1)
  // What was asked, in the answer again: OpenAI's repeats the prompt that it keeps and the form that the answer is to have.
  const isEcho = names[0] === 'prompt' || (names[0] === 'text' && names.length > 1)
  if (speaker === 'user' || isEcho) return 'request'
  if (speaker === 'system') return null
  if (speaker === 'assistant') return isThought(names, body) ? 'thoughts' : 'answer'
  const source = names.findIndex((name) => sourceKeys.has(name))
  if (source === -1) return 'context'
  // The words of sources are read as context, once each. Titles and addresses are none that an answer could be held against.
  const rest = names.slice(source)
  return rest.some((name) => wordsOfSource.has(name) || name === 'renderedContent') ? null : 'answer'
}

const thought = /^(?:reasoning|thinking|thought)|^summary$/i

function isThought(names: readonly string[], body: unknown): boolean {
  if (names.some((name) => thought.test(name))) return true
  const [list = '', index = ''] = names
  const item = listOf(fieldAt(body, list))[Number(index)]
  return fieldAt(item, 'type') === 'reasoning' || fieldAt(item, 'type') === 'thought'
}

/** LangGraph and Google's interactions answer with the conversation: what stands before the last words of its user was said before. */
function earlierIn(body: unknown): (pointer: string) => boolean {
  const lastOf = (name: string, type: string) =>
    listOf(fieldAt(body, name)).findLastIndex((entry) => fieldAt(entry, 'type') === type)
  const last = new Map([
    ['messages', lastOf('messages', 'human')],
    ['steps', lastOf('steps', 'user_input')],
  ])
  return (pointer) => {
    const [, name = '', index = ''] = pointer.split('/', 3)
    return Number(index) <= (last.get(name) ?? -1)
  }
}

/** How a model is to answer. What of these has no blank is a choice, and nothing that is said. */
const settings: ReadonlySet<string> = new Set([
  ...['generationConfig', 'generation_config', 'safetySettings', 'inferenceConfig', 'reasoning', 'thinking'],
  ...['include', 'modalities', 'stop_sequences', 'provider', 'text', 'toolConfig', 'tool_config'],
])

/** A name, a choice, a date, an identifier; an address; a signature or a picture. */
const oneWord = /^[\x21-\x7e]{1,64}$/
const address = /^(?:https?|gs|s3|file):\S{1,2048}$/

function saysNothing(text: string): boolean {
  return oneWord.test(text) || address.test(text) || (isBytes(text) && isMixed(text) && !holdsWords(text))
}

/** Words without their blanks are no base64, which has no 64 letters without a digit. */
function isMixed(text: string): boolean {
  return /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text)
}

/** Words in base64 are somebody's. */
function holdsWords(base64: string): boolean {
  return /^[\t\n\r\x20-\x7e]+$/.test(Buffer.from(base64.slice(0, 64), 'base64').toString('utf8'))
}

/** What it is called, or what the list is called that it stands in. */
function nameOf(pointer: string): string {
  const name = pointer.split('/').findLast((step) => !/^\d*$/.test(step))
  return (textOf(name) ?? 'text').slice(0, mostLabelUnits)
}
