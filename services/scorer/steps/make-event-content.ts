import { fieldAt } from '#capture/json.ts'
import { textsOfCall } from '#capture/texts-of-call.ts'
import { isToolCallRecord } from '#capture/tool-calls.ts'
import { parseToRewrite, rawDigits } from '#schemas/parse-to-rewrite.ts'
import type { EventContent, Quotes } from '#schemas/safety-score-recorded.ts'
import { firstNames } from '#detectors/along-names.ts'
import type { BodyPart, Call, CallText, Evidence } from '#detectors/call-text.ts'
import { findIdentifiers, maskIdentifier, maskIdentifiers } from '#detectors/pii/detect-pii.ts'
import { asWords, fieldNames } from '#detectors/pii/field-name.ts'
import type { NamedVerdict } from '#detectors/verdict.ts'

const snippetCharacters = 200
/** One visible character may have many units: emoji eleven or more, hostile combining marks thousands. */
const maxSnippetUnits = 1_600
/** Units shown before the evidence. */
const leadUnits = 60
/** Units read around the position, to find identifiers that a snippet would cut. Tokens have thousands. */
const marginUnits = 4_096
/** An event is a message to people: longer arguments are truncated. */
const maxArgumentsUnits = 64 * 1024
const beginningUnits = 1_000
/** Each event of the call carries all quotes; further scorers quote the first one's. */
const maxOwnQuotes = 20

/** What events about the call may quote, identifiers masked: receivers must not get card numbers. */
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

/** Quotes the first evidence in each body, else its beginning. Each passage is read once for all scorers. */
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

/** For projects that keep no content. */
export const noEventContent: EventContent = { prompt_snippet: '', completion_snippet: null }

/** Enough to fill a snippet. */
const maxFields = 50

/** The first values of a tool's data, masked one by one, as each field's name says what it is. */
function fieldsOf(call: Call, part: BodyPart): string {
  const [topOf, fieldNameOf] = [firstNames(1), fieldNames()]
  const isProtocol = (text: CallText) => part === 'request_body' && topOf(text)[0] !== 'arguments'
  return call.texts
    .filter((text) => text.part === part && !isProtocol(text))
    .slice(0, maxFields)
    .map((text) => snippetOf(text.text, 0, fieldNameOf(text)))
    .join('\n')
}

/** The first of these passages that is in a text of the body. */
function placeOf(call: Call, part: BodyPart, evidence: readonly Evidence[]) {
  for (const { part: where, pointer, start: at } of evidence) {
    if (where !== part) continue
    const found = call.texts.find((candidate) => candidate.part === part && candidate.pointer === pointer)
    if (found !== undefined) return { found, at }
  }
  return undefined
}

/** About 200 characters around `at`, identifiers masked, cut at graphemes. `field` names the text. */
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

/** Start of the grapheme at `at`, unless it is far away. */
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
    // The rest may be as long as a body can be.
    const asked = whole.length <= 4 * maxArgumentsUnits ? parseToRewrite(whole) : value
    return parseToRewrite(JSON.stringify(fieldAt(asked, 'arguments') ?? {}, maskMember))
  }
  // Values first: JSON text inside a JSON string is escaped twice.
  const masked = JSON.stringify(given, createBeginningMask()).slice(0, beginningUnits + marginUnits)
  const beginning = maskIdentifiers(masked)
  const text = beginning.slice(0, characterStart(beginning, beginningUnits)).toWellFormed()
  return { truncated: true, bytes: Buffer.byteLength(json), text }
}

/** Masks the values that an event shows, in order. The rest, perhaps ten million characters, is dropped. */
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

/** Masks a value and an object's names; names that become equal are numbered. A list's items use its name. */
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

/** A card number may be a JSON number. */
function maskValue(name: string, value: unknown): unknown {
  const field = asWords(name)
  if (typeof value === 'string') return maskIdentifiers(value, field)
  if (typeof value === 'number' && hasLostDigits(value)) return '…'
  const digits = typeof value === 'number' ? String(value) : rawDigits(value)
  if (digits === undefined) return value
  const masked = maskIdentifiers(digits, field)
  return masked === digits ? value : masked
}

/**
 * True for an integer rounded by JSON.parse: its body was too long to keep raw digits, or it has a point or
 * exponent. A rounded card number would go unrecognised and be shown. From 10^21 on no digits are.
 */
function hasLostDigits(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21
}
