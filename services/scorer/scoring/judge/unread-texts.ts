import { fieldAt, listOf, textOf } from '#capture/json.ts'
import { unwrapped } from '#capture/payload-of.ts'
import { isToolCallRecord } from '#capture/tool-calls.ts'
import { isReadable, likeBase64 } from '#capture/words-in-base64.ts'
import { isKeptWhole, type Call, type CallText } from '#detectors/call-text.ts'
import { seenTexts, type SeenTexts } from './seen-texts.ts'
import { createTextPositions, type TextPosition } from './text-position.ts'

/** The part of a call that a text belongs to. */
type Place = 'request' | 'answer' | 'thoughts' | 'system_prompt' | 'context'

/** What is already shown of each part; `offered`: the texts of tools. */
export type ReadTexts = Readonly<
  Record<'request' | 'answer' | 'system_prompt' | 'context' | 'offered', string[]>
>

/** Texts that detectors read and the judge would not see. */
export type UnreadTexts = Record<Place, string[]>

const maxLabelUnits = 40

/**
 * Texts that detectors read and the judge would not see. Providers keep adding places for words, and a
 * verdict needs every one of them read. Each text is labelled with its name in the call. Returns about `max`
 * units per part, slightly more if there are more: the excess is shortened when shown, and marked.
 */
export function unreadTexts(call: Call, read: ReadTexts, max: number): UnreadTexts {
  const found: UnreadTexts = { request: [], answer: [], thoughts: [], system_prompt: [], context: [] }
  const isSeen = seenIn(read, max)
  const units = new Map<Place, number>()
  const placeOf = createPlacement(call)
  const positionOf = createTextPositions()
  for (const given of call.texts) {
    const position = positionOf(given)
    const place = placeOf(given, position)
    if (place === null || (units.get(place) ?? 0) > max || saysNothing(given.text)) continue
    if (isSeen(place, given)) continue
    const labelled = `[${labelOf(position)}: ${given.text}]`
    units.set(place, (units.get(place) ?? 0) + labelled.length)
    found[place].push(labelled)
  }
  return found
}

/**
 * Whether a text is already shown in its part. Sources are shown with the answer that cites them, or as tool
 * results. A text not seen is added.
 */
function seenIn(read: ReadTexts, max: number): (place: Place, text: CallText) => boolean {
  const offered = seenTexts(read.offered, max)
  const answer = seenTexts(read.answer, max)
  const context = seenTexts(read.context, max)
  const seen: Record<Place, SeenTexts> = {
    request: seenTexts(read.request, max),
    answer,
    thoughts: answer,
    system_prompt: seenTexts(read.system_prompt, max),
    context,
  }
  return (place, { text, speaker }) => {
    // It is shortened, and marked so.
    if (seen[place].isFull() || (place === 'system_prompt' && offered.isFull())) return true
    if (seen[place].has(text)) return true
    if (speaker === 'tool' && context.has(text)) return true
    if (place !== 'answer' && place !== 'thoughts' && offered.has(text)) return true
    seen[place].add(text)
    return false
  }
}

/** A body kept as text was read whole. A body marked as truncated may still have its structure. */
function hasShape(body: unknown): boolean {
  return isKeptWhole(body) || (fieldAt(body, 'truncated') === true && unwrapped(body) === body)
}

/** Null: already shown as a turn, or repeated in the answer. */
function createPlacement({
  request,
  response,
}: Call): (text: CallText, position: TextPosition) => Place | null {
  const isRecord = isToolCallRecord(request?.value)
  const [asksWhole, answersWhole] = [hasShape(request?.value), hasShape(response?.value)]
  const isEarlier = earlierIn(response?.value)
  return (text, position) => {
    if (text.part === 'request_body') return isRecord || !asksWhole ? null : placeInRequest(text, position)
    if (!answersWhole || isEarlier(position)) return null
    if (isRecord) return 'answer'
    return placeInAnswer(text, position, response?.value)
  }
}

const placesInRequest = {
  user: 'request',
  system: 'system_prompt',
  tool: 'context',
  assistant: null,
} as const

function placeInRequest({ speaker, text }: CallText, position: TextPosition): Place | null {
  if (!settings.has(position.top)) return placesInRequest[speaker]
  if (!/\s/.test(text)) return null
  return isNested(position) ? 'system_prompt' : placesInRequest[speaker]
}

/**
 * A setting's name may also hold a text or a list of texts that somebody said. Form fields have arbitrary
 * names and no speaker.
 */
function isNested({ top, depth, second }: TextPosition): boolean {
  if (top === 'text') return second === 'format'
  return depth > 1 && !/^\d+$/.test(second)
}

/** Cohere's v1 answers repeat earlier turns, and the last of them repeats the answer's words. */
const earlierTurns = 'chat_history'

function placeInAnswer({ speaker }: CallText, position: TextPosition, body: unknown): Place | null {
  const { top, isOfSource, isWordsOfSource } = position
  // The request, repeated in the answer: OpenAI repeats its stored prompt and the answer's format.
  if (top === 'text' && isNested(position)) return 'system_prompt'
  if (speaker === 'user' || top === 'prompt') return 'request'
  if (speaker === 'system' || (speaker === 'assistant' && top === earlierTurns)) return null
  if (speaker === 'assistant') return isThought(position, body) ? 'thoughts' : 'answer'
  if (!isOfSource) return 'context'
  // Sources are read once, as context. Titles and addresses are not evidence against an answer.
  return isWordsOfSource ? null : 'answer'
}

function isThought({ top, second, isThought: isNamed }: TextPosition, body: unknown): boolean {
  if (isNamed) return true
  const item = listOf(fieldAt(body, top))[Number(second)]
  return fieldAt(item, 'type') === 'reasoning' || fieldAt(item, 'type') === 'thought'
}

/** LangGraph and Google's interactions return the conversation: what precedes the user's last words. */
function earlierIn(body: unknown): (position: TextPosition) => boolean {
  const lastOf = (name: string, type: string) =>
    listOf(fieldAt(body, name)).findLastIndex((entry) => fieldAt(entry, 'type') === type)
  const last = new Map([
    ['messages', lastOf('messages', 'human')],
    ['steps', lastOf('steps', 'user_input')],
  ])
  return ({ top, second }) => Number(second) <= (last.get(top) ?? -1)
}

/**
 * Settings of the answer and its format. A value without a space is a choice and says nothing; one with
 * spaces describes the format.
 */
const settings: ReadonlySet<string> = new Set([
  ...['generationConfig', 'generation_config', 'safetySettings', 'inferenceConfig', 'reasoning', 'thinking'],
  ...['include', 'modalities', 'stop_sequences', 'provider', 'text', 'toolConfig', 'tool_config'],
  ...['response_format', 'output_format', 'output_config', 'format'],
])

/** A name, choice, date or identifier; an address; a signature or a picture. */
const oneWord = /^[\x21-\x7e]{1,64}$/
const address = /^(?:https?|gs|s3|file):\S{1,2048}$/

/** Thought signatures use either base64 alphabet. */
function saysNothing(text: string): boolean {
  if (oneWord.test(text) || address.test(text)) return true
  return likeBase64.test(text) && isMixed(text) && !isReadable(text.slice(text.indexOf(',') + 1))
}

/** Words without spaces are not base64, of which 64 characters always include a digit. */
function isMixed(text: string): boolean {
  return /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text)
}

function labelOf({ label }: TextPosition): string {
  return (textOf(label) ?? 'text').slice(0, maxLabelUnits)
}
