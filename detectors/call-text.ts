import { boundOfParts, fieldAt } from '#capture/json.ts'
import { declaredContext, isDeclared } from '#capture/record/declared-context.ts'
import { isChunked } from '#capture/streams/join-pieces.ts'
import { isMediaPart } from '#capture/media/media-part.ts'
import { isPrediction, predictionOutput } from '#capture/platform-answers.ts'
import { isToolCallRecord } from '#capture/tool-calls.ts'
import type { MaskedValue } from '#schemas/masked-value.ts'
import type { Path } from './along-names.ts'
import { findContext, type Span } from './context/find-context.ts'
import { holdsToolsData, isProtocols, namesIn, namesOfAnswer, namesOfKey, type Names } from './field-names.ts'
import { voiceOf, voiceOfKey, type Speaker, type Voice } from './find-speaker.ts'
import { isWords, withoutMedia } from './media-text.ts'
import { childrenOf } from './strings-of.ts'

/** The two bodies of a call, named as in the API. */
export type BodyPart = 'request_body' | 'response_body'

/** A string of a body that a person or model wrote, and its location. */
export interface CallText extends Path {
  part: BodyPart
  /** JSON pointer (RFC 6901) to the string in the body. */
  pointer: string
  speaker: Speaker
  text: string
  /** Offset of `text` within the string. Non-zero only for pieces of a long one, and passages. */
  offset: number
  /** Passages of the string that were retrieved or pasted (find-context.ts). Absent: none. */
  context?: readonly Span[]
  /** Part of a tool's definition, which an MCP server may have written. */
  isOffer?: true
}

/** A passage. Offsets: UTF-16 units in the string at `pointer`, or in the joined strings of a list there. */
export interface Evidence {
  part: BodyPart
  /** Null: offsets into the body's JSON text. */
  pointer: string | null
  start: number
  end: number
  /** What was found, in the scorer's terms: `email_address`, `persona`, a custom scorer's keyword … */
  kind: string
}

/** The input of scorers. Plain data: evals build it from files, the scorer from a job. */
export interface Call {
  request: Body | null
  response: Body | null
  /** Texts of both bodies, in order. */
  texts: readonly CallText[]
  usage: RecordedUsage
}

/** Counts of a call; null: not counted. */
export interface Usage {
  prompt_tokens: number | null
  completion_tokens: number | null
  reasoning_tokens: number | null
  cost_usd: number | null
}

/** Further fields of the record, apart from its bodies. */
interface RecordedUsage extends Usage {
  /** Who aborted the answer. Absent or null: nobody. */
  aborted_by?: string | null
  /** JSON object as text; it may declare context. */
  metadata?: string | null
  /** What was masked in the bodies before they were stored. */
  masked?: readonly MaskedValue[] | null | undefined
}

const nobodyCounted: Usage = {
  prompt_tokens: null,
  completion_tokens: null,
  reasoning_tokens: null,
  cost_usd: null,
}

export interface Body {
  /** JSON text as received. */
  json: string
  value: unknown
}

/** Reads a call of any provider. Relies on names that providers share, not on shapes. */
export function readCall(
  request: Body | null,
  response: Body | null,
  usage: RecordedUsage = nobodyCounted,
): Call {
  // In a tool call, the arguments are the model's words and the result is third-party text.
  const isFixed = isToolCallRecord(request?.value)
  const [asking, answering]: [Speaker, Speaker] = isFixed ? ['assistant', 'tool'] : ['user', 'assistant']
  return {
    request,
    response,
    texts: [
      ...textsOf(
        'request_body',
        request?.value,
        {
          voice: { speaker: asking, isFixed },
          isTools: false,
          isOffer: false,
          names: 'protocol',
        },
        declaredContext(usage.metadata),
      ),
      ...textsOf('response_body', response?.value, {
        voice: { speaker: answering, isFixed },
        isTools: isFixed,
        isOffer: false,
        names: isFixed ? 'own' : namesOfAnswer(request?.value, response?.value),
      }),
    ],
    usage,
  }
}

/** Upper bound of a body's heap bytes: an object or string takes up to 193, text twice its length. */
export function heapBytesOf(json: string): number {
  return 2 * json.length + 200 * boundOfParts(json)
}

/** Throws SyntaxError if it is not JSON. */
export function parseBody(json: string): Body {
  return { json, value: JSON.parse(json) as unknown }
}

/** What the surrounding value says about a value. */
interface Setting {
  voice: Voice
  /** Inside a tool's arguments or data. */
  isTools: boolean
  /** Inside the definitions of tools. */
  isOffer: boolean
  names: Names
}

/** `declared`: places of the body that the application says are context. */
function textsOf(
  part: BodyPart,
  body: unknown,
  setting: Setting,
  declared: readonly string[] = [],
): CallText[] {
  const texts: CallText[] = []
  const stack: Unread[] = [{ value: body, key: '', pointer: '', within: null, ...setting }]
  const isCut = fieldAt(body, 'truncated') === true
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { value, key: name, pointer, within, voice: by } = next
    if (typeof value === 'string') {
      const text = isCut ? withoutMedia(value) : value
      if (!isWords(text)) continue
      const said: CallText = { part, pointer, name, within, speaker: by.speaker, text, offset: 0 }
      texts.push(next.isOffer ? { ...said, isOffer: true } : withContext(said, declared))
      continue
    }
    // Of numbers, only possible identifiers get here (strings-of.ts). A body that is just a number is not
    // one.
    if (typeof value === 'number' && pointer !== '') {
      texts.push({ part, pointer, name, within, speaker: by.speaker, text: String(value), offset: 0 })
      continue
    }
    if (isMediaPart(value)) {
      const named = { ...next, key: 'filename', value: value.filename, pointer: `${pointer}/filename` }
      if (value.filename !== undefined) stack.push(named)
      continue
    }
    const inherited = voiceOf(value, by)
    const names = next.isTools ? 'own' : namesIn(value, next.names)
    const path = { name, within }
    for (const child of childrenOf(value, pointer)) {
      if (typeof child.value === 'string' && isProtocols(child.key, child.value, names)) continue
      const { speaker } = inherited
      const isTools = next.isTools || holdsToolsData(value, child.key, speaker)
      // A tool's arguments are the model's words, whatever their names.
      const isModels = isTools && speaker === 'assistant'
      const voice = isModels ? { speaker, isFixed: true } : voiceOfKey(value, child.key, inherited)
      const isPieces = child.key === 'output' && isPrediction(value)
      const said = isPieces ? predictionOutput(value) : child.value
      const childNames = namesOfKey(value, child.key, names)
      const isOffer = next.isOffer || (voice.speaker === 'system' && offerKeys.has(child.key))
      stack.push({ ...child, value: said, within: path, voice, isTools, isOffer, names: childNames })
    }
  }
  return texts
}

/** Members that define tools. */
const offerKeys: ReadonlySet<string> = new Set(['tools', 'functions'])

/** A prompt with its passages, all of a declared text, or anything else unchanged. */
function withContext(said: CallText, declared: readonly string[]): CallText {
  const { part, pointer, speaker, text } = said
  if (isDeclared(pointer, declared)) return { ...said, context: [{ start: 0, end: text.length }] }
  if (part !== 'request_body' || (speaker !== 'user' && speaker !== 'system')) return said
  const context = findContext(text, speaker)
  return context.length === 0 ? said : { ...said, context }
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
 * Splits a long text into overlapping pieces. One piece takes milliseconds, so the event loop runs in
 * between. A match longer than the overlap may be missed at a boundary.
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

/** True for a body that was not a JSON object: only its text is known, and its structure was never parsed. */
export function isWrapped(body: unknown): boolean {
  const isRaw = typeof fieldAt(body, 'encoding') === 'string' && fieldAt(body, 'raw') !== undefined
  return isRaw || fieldAt(body, 'truncated') === true
}

/** True if a body could not be masked before the call was stored, and was left out. */
export function isUnmasked({ request, response }: Pick<Call, 'request' | 'response'>): boolean {
  return [request, response].some(
    (body) => fieldAt(body?.value, 'not_masked') !== undefined && isWrapped(body?.value),
  )
}

/** True if one of the call's bodies is complete, or absent. False where an answer was broken off. */
export function isPartWhole(call: Call, part: BodyPart): boolean {
  const { request, response, usage } = call
  const body = part === 'request_body' ? request : response
  if (isMediaOnly(call, part)) return false
  const brokeOff = part === 'response_body' && body !== null && (usage.aborted_by ?? null) !== null
  return !brokeOff && isKeptWhole(body?.value)
}

/** True if the body has sound or pictures, and no words beside them that would say what they are. */
export function isMediaOnly({ request, response, texts }: Call, part: BodyPart): boolean {
  const saysSomething = texts.some((text) => text.part === part && /\s/.test(text.text))
  return !saysSomething && holdsMedia((part === 'request_body' ? request : response)?.value)
}

function holdsMedia(body: unknown): boolean {
  const pending = [body]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (isMediaPart(next)) return true
    for (const { value } of childrenOf(next, '')) pending.push(value)
  }
  return false
}

/** True if the body's strings are all that it said: not truncated, binary or split into chunks. */
export function isKeptWhole(body: unknown): boolean {
  if (!isWrapped(body)) return true
  const raw = fieldAt(body, 'raw')
  // Older records have no `joined`.
  const areInPieces = fieldAt(body, 'joined') !== undefined || (typeof raw === 'string' && isChunked(raw))
  return fieldAt(body, 'encoding') === 'utf8' && !areInPieces
}
