import { textsOfCall } from '#capture/texts-of-call.ts'
import type { EventContent } from '#schemas/safety-score-recorded.ts'
import { isToolCall, type BodyPart, type Call, type Evidence } from '../scoring/call-text.ts'
import { findIdentifiers, maskIdentifier, maskIdentifiers } from '../scoring/pii/detect-pii.ts'
import type { NamedVerdict } from './named-verdict.ts'

const snippetCharacters = 200
/** Characters have any number of units: emoji eleven and more, letters with hostile accents thousands. */
const mostSnippetUnits = 1_600
/** How much before the evidence is shown. */
const leadUnits = 60
/** What is read around the place to find identifiers that a snippet would cut in two: tokens have thousands of characters. */
const marginUnits = 4_096
/** An event is a message to people: larger arguments are told by their beginning. */
const mostArgumentsUnits = 64 * 1024
const beginningUnits = 1_000

/** What an event about the call may quote. Identifiers are masked: receivers of alerts are not receivers of card numbers. */
export function makeEventContent(call: Call, verdicts: readonly NamedVerdict[]): EventContent {
  const evidence = verdicts
    .filter(({ verdict }) => verdict.label === 'unsafe')
    .flatMap(({ verdict }) => verdict.evidence)
  const { prompt, answer } = textsOfCall(call.request?.value, call.response?.value)
  const completion = snippetAt(call, 'response_body', evidence) ?? snippetOf(answer, 0)
  const content: EventContent = {
    prompt_snippet: snippetAt(call, 'request_body', evidence) ?? snippetOf(prompt, 0),
    completion_snippet: completion === '' ? null : completion,
  }
  return isToolCall(call.request?.value) ? { ...content, arguments: argumentsOf(call) } : content
}

/** Of a project that keeps no content. */
export const noEventContent: EventContent = { prompt_snippet: '', completion_snippet: null }

function snippetAt(call: Call, part: BodyPart, evidence: readonly Evidence[]): string | undefined {
  for (const { part: where, pointer, start } of evidence) {
    if (where !== part) continue
    const text = call.texts.find((candidate) => candidate.part === part && candidate.pointer === pointer)
    if (text !== undefined) return snippetOf(text.text, start)
  }
  return undefined
}

/** About 200 characters of `text` around `at`, identifiers masked, cut between characters as people see them. */
export function snippetOf(text: string, at: number): string {
  const from = Math.max(0, at - leadUnits - marginUnits)
  const region = text.slice(from, at + snippetCharacters * 4 + marginUnits)
  let begin = characterStart(region, Math.max(0, at - leadUnits - from))
  const masks = findIdentifiers(region).map((found) => ({
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
    if (++count > snippetCharacters || index + segment.length > mostSnippetUnits) break
    end = index + segment.length
  }
  return end === 0 ? text.slice(0, mostSnippetUnits) : text.slice(0, end)
}

/** Names and values are masked like snippets. */
function argumentsOf(call: Call): unknown {
  const given = (call.request?.value as Readonly<Record<string, unknown>>)['arguments'] ?? {}
  const json = JSON.stringify(given)
  if (json.length <= mostArgumentsUnits) return JSON.parse(JSON.stringify(given, maskMember))
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

/** Masks a value and, of an object, its names. Two names that look alike then are told apart by their places. */
function maskMember(name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return maskValue(name, value)
  const made = new Map<string, unknown>()
  for (const [index, [key, member]] of Object.entries(value).entries()) {
    const masked = maskIdentifiers(key)
    made.set(made.has(masked) ? `${masked} ${index + 1}` : masked, member)
  }
  return Object.fromEntries(made)
}

/** A card number can be a number as well. */
function maskValue(_name: string, value: unknown): unknown {
  if (typeof value === 'string') return maskIdentifiers(value)
  if (typeof value !== 'number') return value
  const masked = maskIdentifiers(String(value))
  return masked === String(value) ? value : masked
}
