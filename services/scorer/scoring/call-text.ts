import { boundOfParts, fieldAt } from '#capture/json.ts'
import { isInPieces } from '#capture/streams/join-pieces.ts'
import { isPrediction, predictionOutput } from '#capture/platform-answers.ts'
import { isToolCallRecord } from '#capture/tool-calls.ts'
import type { Path } from './along-names.ts'
import { holdsToolsData, isProtocols, namesIn, namesOfAnswer, namesOfKey, type Names } from './field-names.ts'
import { voiceOf, voiceOfKey, type Speaker, type Voice } from './find-speaker.ts'
import { isWords, withoutMedia } from './media-text.ts'
import { childrenOf } from './strings-of.ts'

/** The two bodies of a call; names as in the API. */
export type BodyPart = 'request_body' | 'response_body'

/** One string of a body that people or models wrote, and where it stands. */
export interface CallText extends Path {
  part: BodyPart
  /** JSON pointer (RFC 6901) to the string in the body. */
  pointer: string
  speaker: Speaker
  text: string
  /** Where in the string `text` begins: 0 but for pieces of a long one. */
  offset: number
}

/** A passage of a body: offsets are UTF-16 code units in the string that `pointer` names, or in what the strings of a list there amount to together. */
export interface Evidence {
  part: BodyPart
  /** Null: the offsets are in the body's JSON text itself. */
  pointer: string | null
  start: number
  end: number
  /** What was found, a word of the scorer's own: `email_address`, `persona`, a custom scorer's keyword … */
  kind: string
}

/** What scorers look at. Pure data: evals make it from their files, the scorer from a job. */
export interface Call {
  request: Body | null
  response: Body | null
  /** What people and models wrote in both, in order. */
  texts: readonly CallText[]
  usage: RecordedUsage
}

/** What was counted of a call; null: nobody counted. */
export interface Usage {
  prompt_tokens: number | null
  completion_tokens: number | null
  reasoning_tokens: number | null
  cost_usd: number | null
}

/** With what else the record says beside the bodies. */
interface RecordedUsage extends Usage {
  /** Who broke the answer off. Absent or null: nobody. */
  aborted_by?: string | null
}

const nobodyCounted: Usage = {
  prompt_tokens: null,
  completion_tokens: null,
  reasoning_tokens: null,
  cost_usd: null,
}

export interface Body {
  /** JSON text as it came. */
  json: string
  value: unknown
}

/** Reads a call of whatever provider: shapes are not relied on, only the names that providers share. */
export function readCall(
  request: Body | null,
  response: Body | null,
  usage: RecordedUsage = nobodyCounted,
): Call {
  // What a tool is called with are the model's words, and what it answers is brought in.
  const isFixed = isToolCallRecord(request?.value)
  const [asking, answering]: [Speaker, Speaker] = isFixed ? ['assistant', 'tool'] : ['user', 'assistant']
  return {
    request,
    response,
    texts: [
      ...textsOf('request_body', request?.value, {
        voice: { speaker: asking, isFixed },
        isTools: false,
        names: 'protocol',
      }),
      ...textsOf('response_body', response?.value, {
        voice: { speaker: answering, isFixed },
        isTools: isFixed,
        names: isFixed ? 'own' : namesOfAnswer(request?.value, response?.value),
      }),
    ],
    usage,
  }
}

/** What a body takes when it is parsed and read, in bytes; no less. An object or a string takes up to 193, its words twice their length. */
export function heapBytesOf(json: string): number {
  return 2 * json.length + 200 * boundOfParts(json)
}

/** Throws SyntaxError on what is not JSON. */
export function parseBody(json: string): Body {
  return { json, value: JSON.parse(json) as unknown }
}

/** What is known of a value by what it stands in. */
interface Setting {
  voice: Voice
  /** Whether it is a tool's arguments or data. */
  isTools: boolean
  names: Names
}

function textsOf(part: BodyPart, body: unknown, setting: Setting): CallText[] {
  const texts: CallText[] = []
  const stack: Unread[] = [{ value: body, key: '', pointer: '', within: null, ...setting }]
  const isCut = fieldAt(body, 'truncated') === true
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { value, key: name, pointer, within, voice: by } = next
    if (typeof value === 'string') {
      const text = isCut ? withoutMedia(value) : value
      if (isWords(text)) texts.push({ part, pointer, name, within, speaker: by.speaker, text, offset: 0 })
      continue
    }
    // Of the numbers within a body only those come here that may be somebody's (strings-of.ts); a body that is one is none.
    if (typeof value === 'number' && pointer !== '') {
      texts.push({ part, pointer, name, within, speaker: by.speaker, text: String(value), offset: 0 })
      continue
    }
    const inherited = voiceOf(value, by)
    const names = next.isTools ? 'own' : namesIn(value, next.names)
    const path = { name, within }
    for (const child of childrenOf(value, pointer)) {
      if (typeof child.value === 'string' && isProtocols(child.key, child.value, names)) continue
      const { speaker } = inherited
      const isTools = next.isTools || holdsToolsData(value, child.key, speaker)
      // What a model calls a tool with are its words, by whatever names.
      const isModels = isTools && speaker === 'assistant'
      const voice = isModels ? { speaker, isFixed: true } : voiceOfKey(value, child.key, inherited)
      const isPieces = child.key === 'output' && isPrediction(value)
      const said = isPieces ? predictionOutput(value) : child.value
      const childNames = namesOfKey(value, child.key, names)
      stack.push({ ...child, value: said, within: path, voice, isTools, names: childNames })
    }
  }
  return texts
}

interface Unread extends Setting {
  value: unknown
  key: string
  pointer: string
  within: Path | null
}

const pieceUnits = 65_536
const overlapUnits = 4_096

/**
 * A long text in pieces that overlap, so that reading one takes milliseconds and the event loop gets its turn between them. What is
 * longer than the overlap can be missed where two pieces meet.
 */
export function* piecesOf<T extends { text: string; offset: number }>(whole: T): Generator<T> {
  if (whole.text.length <= pieceUnits) {
    yield whole
    return
  }
  for (let at = 0; at < whole.text.length - overlapUnits; at += pieceUnits - overlapUnits) {
    yield { ...whole, text: whole.text.slice(at, at + pieceUnits), offset: whole.offset + at }
  }
}

/** Whether a body stands for bytes that were no JSON object: its text is all that is known of it, and what it consists of nobody has parsed. */
export function isWrapped(body: unknown): boolean {
  const isRaw = typeof fieldAt(body, 'encoding') === 'string' && fieldAt(body, 'raw') !== undefined
  return isRaw || fieldAt(body, 'truncated') === true
}

/**
 * Whether a call has all that was said in one of its bodies, or nothing was: not where an answer broke off.
 */
export function isPartWhole({ request, response, usage }: Call, part: BodyPart): boolean {
  const body = part === 'request_body' ? request : response
  const brokeOff = part === 'response_body' && body !== null && (usage.aborted_by ?? null) !== null
  return !brokeOff && isKeptWhole(body?.value)
}

/** Whether the strings of a body are all that it said: not of one that was cut when it was recorded, that is no text, or whose words stand in pieces. */
export function isKeptWhole(body: unknown): boolean {
  if (!isWrapped(body)) return true
  const raw = fieldAt(body, 'raw')
  // Records of before have no `joined`.
  const areInPieces = fieldAt(body, 'joined') !== undefined || (typeof raw === 'string' && isInPieces(raw))
  return fieldAt(body, 'encoding') === 'utf8' && !areInPieces
}
