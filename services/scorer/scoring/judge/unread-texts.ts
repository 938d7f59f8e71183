import { fieldAt, listOf, textOf } from '#capture/json.ts'
import { unwrapped } from '#capture/payload-of.ts'
import { isToolCallRecord } from '#capture/tool-calls.ts'
import { isReadable, likeBase64 } from '#capture/words-in-base64.ts'
import { isKeptWhole, type Call, type CallText } from '../call-text.ts'
import { seenTexts, type SeenTexts } from './seen-texts.ts'
import { standings, type Standing } from './standing.ts'

/** Where a text of a call belongs. */
type Place = 'request' | 'answer' | 'thoughts' | 'system_prompt' | 'context'

/** What is shown of each already; `offered` are the texts of tools. */
export type ReadTexts = Readonly<
  Record<'request' | 'answer' | 'system_prompt' | 'context' | 'offered', string[]>
>

/** What else detectors read. */
export type UnreadTexts = Record<Place, string[]>

const maxLabelUnits = 40

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
  const standingOf = standings()
  for (const given of call.texts) {
    const standing = standingOf(given)
    const place = placeOf(given, standing)
    if (place === null || (units.get(place) ?? 0) > most || saysNothing(given.text)) continue
    if (isSeen(place, given)) continue
    const labelled = `[${labelOf(standing)}: ${given.text}]`
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

/**
 * Of a body that is kept as a text all that there is was read; one that is marked as cut may have kept its
 * shape.
 */
function hasShape(body: unknown): boolean {
  return isKeptWhole(body) || (fieldAt(body, 'truncated') === true && unwrapped(body) === body)
}

/** Null: it is shown as a turn, or stands in the answer again. */
function placing({ request, response }: Call): (text: CallText, standing: Standing) => Place | null {
  const isRecord = isToolCallRecord(request?.value)
  const [asksWhole, answersWhole] = [hasShape(request?.value), hasShape(response?.value)]
  const isEarlier = earlierIn(response?.value)
  return (text, standing) => {
    if (text.part === 'request_body') return isRecord || !asksWhole ? null : placeInRequest(text, standing)
    if (!answersWhole || isEarlier(standing)) return null
    if (isRecord) return 'answer'
    return placeInAnswer(text, standing, response?.value)
  }
}

const placesInRequest = {
  user: 'request',
  system: 'system_prompt',
  tool: 'context',
  assistant: null,
} as const

function placeInRequest({ speaker, text }: CallText, standing: Standing): Place | null {
  if (!settings.has(standing.top)) return placesInRequest[speaker]
  if (!/\s/.test(text)) return null
  return isNested(standing) ? 'system_prompt' : placesInRequest[speaker]
}

/** A text, or a list of texts, may be what somebody says under the name of a setting. The fields of a form have any names: nobody speaks by them. */
function isNested({ top, depth, second }: Standing): boolean {
  if (top === 'text') return second === 'format'
  return depth > 1 && !/^\d+$/.test(second)
}

/** Cohere's first answers repeat the turns before them; the last of these has its words in the answer as well. */
const earlierTurns = 'chat_history'

function placeInAnswer({ speaker }: CallText, standing: Standing, body: unknown): Place | null {
  const { top, isOfSource, isWordsOfSource } = standing
  // What was asked, in the answer again: OpenAI's repeats the prompt that it keeps and the form that the answer is to have.
  if (top === 'text' && isNested(standing)) return 'system_prompt'
  if (speaker === 'user' || top === 'prompt') return 'request'
  if (speaker === 'system' || (speaker === 'assistant' && top === earlierTurns)) return null
  if (speaker === 'assistant') return isThought(standing, body) ? 'thoughts' : 'answer'
  if (!isOfSource) return 'context'
  // The words of sources are read as context, once each. Titles and addresses are none that an answer could be held against.
  return isWordsOfSource ? null : 'answer'
}

function isThought({ top, second, isThought: isNamed }: Standing, body: unknown): boolean {
  if (isNamed) return true
  const item = listOf(fieldAt(body, top))[Number(second)]
  return fieldAt(item, 'type') === 'reasoning' || fieldAt(item, 'type') === 'thought'
}

/** LangGraph and Google's interactions answer with the conversation: what stands before the last words of its user was said before. */
function earlierIn(body: unknown): (standing: Standing) => boolean {
  const lastOf = (name: string, type: string) =>
    listOf(fieldAt(body, name)).findLastIndex((entry) => fieldAt(entry, 'type') === type)
  const last = new Map([
    ['messages', lastOf('messages', 'human')],
    ['steps', lastOf('steps', 'user_input')],
  ])
  return ({ top, second }) => Number(second) <= (last.get(top) ?? -1)
}

/** How a model is to answer, and the form of it. What of these has no blank is a choice, and nothing that is said; what has some describes the form. */
const settings: ReadonlySet<string> = new Set([
  ...['generationConfig', 'generation_config', 'safetySettings', 'inferenceConfig', 'reasoning', 'thinking'],
  ...['include', 'modalities', 'stop_sequences', 'provider', 'text', 'toolConfig', 'tool_config'],
  ...['response_format', 'output_format', 'output_config', 'format'],
])

/** A name, a choice, a date, an identifier; an address; a signature or a picture. */
const oneWord = /^[\x21-\x7e]{1,64}$/
const address = /^(?:https?|gs|s3|file):\S{1,2048}$/

/** Signatures of thoughts come in either alphabet of base64. */
function saysNothing(text: string): boolean {
  if (oneWord.test(text) || address.test(text)) return true
  return likeBase64.test(text) && isMixed(text) && !isReadable(text.slice(text.indexOf(',') + 1))
}

/** Words without their blanks are no base64, which has no 64 letters without a digit. */
function isMixed(text: string): boolean {
  return /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text)
}

function labelOf({ label }: Standing): string {
  return (textOf(label) ?? 'text').slice(0, maxLabelUnits)
}
