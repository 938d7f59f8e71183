import { fieldAt } from '#capture/json.ts'
import { textsOfCall } from '#capture/texts-of-call.ts'
import { isToolCallRecord } from '#capture/tool-calls.ts'
import { parseToRewrite, rawDigits } from '#schemas/parse-to-rewrite.ts'
import type { EventContent, Quotes } from '#schemas/safety-score-recorded.ts'
import { firstNames } from '../scoring/along-names.ts'
import type { BodyPart, Call, CallText, Evidence } from '../scoring/call-text.ts'
import { findIdentifiers, maskIdentifier, maskIdentifiers } from '../scoring/pii/detect-pii.ts'
import { asWords, fieldNames } from '../scoring/pii/field-name.ts'
import type { NamedVerdict } from './named-verdict.ts'

const snippetCharacters = 200
/** Characters have any number of units: emoji eleven and more, letters with hostile accents thousands. */
const maxSnippetUnits = 1_600
/** How much before the evidence is shown. */
const leadUnits = 60
/** What is read around the place to find identifiers that a snippet would cut in two: tokens have thousands of characters. */
const marginUnits = 4_096
/** An event is a message to people: larger arguments are told by their beginning. */
const maxArgumentsUnits = 64 * 1024
const beginningUnits = 1_000
/** Every event of the call carries them all; scorers beyond quote what the first one found. */
const maxOwnQuotes = 20

/** What an event about the call may quote. Identifiers are masked: receivers of alerts are not receivers of card numbers. */
export function makeEventContent(call: Call, verdicts: readonly NamedVerdict[]): EventContent {
  const unsafe = verdicts.filter(({ verdict }) => verdict.label === 'unsafe')
  const quote = createQuoting(call)
  const first = quote(unsafe.flatMap(({ verdict }) => verdict.evidence))
  const others = unsafe
    .slice(0, maxOwnQuotes)
    .map(({ scorer, verdict }) => ({ scorer_name: scorer, ...quote(verdict.evidence) }))
    .filter(
      (own) =>
        own.prompt_snippet !== first.prompt_snippet || own.completion_snippet !== first.completion_snippet,
    )
  return {
    ...first,
    ...(isToolCallRecord(call.request?.value) ? { arguments: argumentsOf(call) } : {}),
    ...(others.length > 0 ? { by_scorer: others } : {}),
  }
}

/** Quotes around the first evidence in each body, or a body's beginning where there is none. Each passage is read once, however many scorers name it. */
function createQuoting(call: Call): (evidence: readonly Evidence[]) => Quotes {
  const { prompt, answer } = isToolCallRecord(call.request?.value)
    ? { prompt: fieldsOf(call, 'request_body'), answer: fieldsOf(call, 'response_body') }
    : textsOfCall(call.request?.value, call.response?.value)
  const beginnings = { request_body: prompt, response_body: answer }
  const made = new Map<string, string>()
  const fieldNameOf = fieldNames()
  const quotePart = (part: BodyPart, evidence: readonly Evidence[]): string => {
    const place = placeOf(call, part, evidence)
    const key = `${part} ${place?.at} ${place?.found.pointer}`
    const snippet =
      made.get(key) ??
      (place === undefined
        ? snippetOf(beginnings[part], 0)
        : snippetOf(place.found.text, place.at, fieldNameOf(place.found)))
    made.set(key, snippet)
    return snippet
  }
  return (evidence) => {
    const completion = quotePart('response_body', evidence)
    return {
      prompt_snippet: quotePart('request_body', evidence),
      completion_snippet: completion === '' ? null : completion,
    }
  }
}

/** Of a project that keeps no content. */
export const noEventContent: EventContent = { prompt_snippet: '', completion_snippet: null }

/** As many fill a snippet. */
const maxFields = 50

/** The first values of a tool's data, masked one by one, because what each is says its name. */
function fieldsOf(call: Call, part: BodyPart): string {
  const [topOf, fieldNameOf] = [firstNames(1), fieldNames()]
  const isProtocol = (text: CallText) => part === 'request_body' && topOf(text)[0] !== 'arguments'
  return call.texts
    .filter((text) => text.part === part && !isProtocol(text))
    .slice(0, maxFields)
    .map((text) => snippetOf(text.text, 0, fieldNameOf(text)))
    .join('\n')
}

/** The first of these passages that stands in a text of the body. */
function placeOf(call: Call, part: BodyPart, evidence: readonly Evidence[]) {
  for (const { part: where, pointer, start: at } of evidence) {
    if (where !== part) continue
    const found = call.texts.find((candidate) => candidate.part === part && candidate.pointer === pointer)
    if (found !== undefined) return { found, at }
  }
  return undefined
}

/** About 200 characters of `text` around `at`, identifiers masked, cut between characters as people see them. `field` names what the text is. */
export function snippetOf(text: string, at: number, field = ''): string {
  const from = Math.max(0, at - leadUnits - marginUnits)
  const region = text.slice(from, at + snippetCharacters * 4 + marginUnits)
  let begin = characterStart(region, Math.max(0, at - leadUnits - from))
  const masks = findIdentifiers(region, field).map((found) => ({
    ...found,
    shown: maskIdentifier(found.kind, region.slice(found.start, found.end)),
  }))
  for (const { start, end } of masks) if (start < begin && begin < end) begin = start
  let masked = ''
  let done = begin
  for (const { start, end, shown } of masks) {
    if (start < begin) continue
    masked += region.slice(done, start) + shown
    done = end
  }
  masked += region.slice(done)
  const whole = masked.trim()
  const kept = firstCharacters(whole)
  if (kept === '') return ''
  return `${from + begin > 0 ? '…' : ''}${kept.toWellFormed()}${kept.length < whole.length ? '…' : ''}`
}

const characters = new Intl.Segmenter()

/** Where the character begins that stands at `at`, unless that is far away. */
function characterStart(text: string, at: number): number {
  const start = characters.segment(text).containing(at)?.index ?? at
  return at - start > leadUnits ? at : start
}

function firstCharacters(text: string): string {
  let end = 0
  let count = 0
  for (const { index, segment } of characters.segment(text)) {
    if (++count > snippetCharacters || index + segment.length > maxSnippetUnits) break
    end = index + segment.length
  }
  return end === 0 ? text.slice(0, maxSnippetUnits) : text.slice(0, end)
}

/** Names and values are masked like snippets. */
function argumentsOf(call: Call): unknown {
  const { value = {}, json: whole = '{}' } = call.request ?? {}
  const given = fieldAt(value, 'arguments') ?? {}
  const json = JSON.stringify(given)
  if (json.length <= maxArgumentsUnits) {
    // What else there is beside them may be as long as a body can be.
    const asked = whole.length <= 4 * maxArgumentsUnits ? parseToRewrite(whole) : value
    return parseToRewrite(JSON.stringify(fieldAt(asked, 'arguments') ?? {}, maskMember))
  }
  // Values first: in JSON text that stands in a string of JSON text everything is escaped twice.
  const masked = JSON.stringify(given, createBeginningMask()).slice(0, beginningUnits + marginUnits)
  const beginning = maskIdentifiers(masked)
  const text = beginning.slice(0, characterStart(beginning, beginningUnits)).toWellFormed()
  return { truncated: true, bytes: Buffer.byteLength(json), text }
}

/** Masks the values that an event shows, in order, and leaves the rest out: a body can have ten million characters. */
function createBeginningMask(): (name: string, value: unknown) => unknown {
  let shown = 0
  return (name, value) => {
    if (typeof value !== 'string' && typeof value !== 'number') return value
    if (shown >= beginningUnits) return typeof value === 'string' ? '' : 0
    const beginning = typeof value === 'string' ? value.slice(0, beginningUnits + marginUnits) : value
    const masked = maskValue(name, beginning)
    shown += String(masked).length + 1
    return masked
  }
}

/** Masks a value and, of an object, its names. Two names that look alike then are told apart by their places. A list's name is that of its items. */
function maskMember(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => maskValue(name, item))
  if (typeof value !== 'object' || value === null || rawDigits(value) !== undefined)
    return maskValue(name, value)
  const made = new Map<string, unknown>()
  for (const [index, [key, member]] of Object.entries(value).entries()) {
    const masked = maskIdentifiers(key)
    made.set(made.has(masked) ? `${masked} ${index + 1}` : masked, member)
  }
  return Object.fromEntries(made)
}

/** A card number can be a number as well. */
function maskValue(name: string, value: unknown): unknown {
  const field = asWords(name)
  if (typeof value === 'string') return maskIdentifiers(value, field)
  if (typeof value === 'number' && hasLostDigits(value)) return '…'
  const digits = typeof value === 'number' ? String(value) : rawDigits(value)
  if (digits === undefined) return value
  const masked = maskIdentifiers(digits, field)
  return masked === digits ? value : masked
}

/** Of a body too long to be read digit by digit, and of numbers with a point or an exponent: what is left of a card's is no card's, and would be shown. From 10^21 on there are none. */
function hasLostDigits(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21
}
