import { countOf, fieldAt, objectOf, parseJson } from '../json.ts'
import { parseServerSentEvents } from './server-sent-events.ts'

/**
 * Whether a text that is kept as it came holds its words in strings that nobody has taken apart: JSON (a list, lines of objects, one that was cut off) or a
 * stream of events. Those of one text may stand in several, and their escapes hide letters. Prose may begin with a bracket or a field's name too.
 */
export function isInPieces(text: string): boolean {
  const begun = text.trimStart()
  return objectBeginning.test(begun) || beginsAsList(begun) || beginsAsEvents(begun)
}

const objectBeginning = /^\{\s*(?:["}]|$)/
/** What may stand before the first string or object of a list. A few at a time: repeated without end, ten million of them would be more than the stack holds. */
const beforeWords = /[\s[\d.,eE+-]{1,4096}|null|true|false/y

function beginsAsList(text: string): boolean {
  if (!text.startsWith('[')) return false
  beforeWords.lastIndex = 0
  let end = 0
  while (beforeWords.test(text)) end = beforeWords.lastIndex
  const begun = text.slice(0, end)
  const next = text.charAt(begun.length)
  if (next !== ']') return next === '' || next === '"' || next === '{'
  const behind = text.slice(begun.length + 1)
  const after = behind.trimStart()
  // "[1], [2]" are sources of prose, and "[[1], [2]]" is a list.
  if (begun.lastIndexOf('[') > 0) return after === '' || /^[,\]]/.test(after)
  return after === '' || (/^[[{]/.test(after) && behind.slice(0, -after.length).includes('\n'))
}

/** A line of a field other than data, of a comment, or an empty one. */
const fieldLine = /(?:(?:event|id|retry)?:[^\r\n]*)?(?:\r\n|\r|\n)/y
/** No prose begins with so many. */
const maxFieldLines = 1_000

/** What begins as a field and has no data is prose; a comment may stand alone while the answer is waited for. */
function beginsAsEvents(text: string): boolean {
  let at = 0
  for (let lines = 0; lines < maxFieldLines; lines++) {
    fieldLine.lastIndex = at
    if (!fieldLine.test(text)) {
      const isCommentAlone = at === text.length && text.startsWith(':')
      return isCommentAlone || text.startsWith('data:', at)
    }
    at = fieldLine.lastIndex
  }
  return true
}

/** Names under which formats have what is generated. Identifiers and times would be joined to what looks like somebody's numbers. */
const wordNames = new Set([
  ...['content', 'text', 'value', 'delta', 'token', 'response', 'message', 'answer', 'completion'],
  ...['output', 'output_text', 'outputText', 'generated_text', 'generation', 'refusal', 'transcript'],
  ...['thinking', 'reasoning', 'reasoning_content', 'arguments', 'partial_json', 'code'],
])
/** Chat completions have the arguments of a call seven levels deep. */
const maxDepth = 10
/** Some formats have as many as choices, kinds of text and levels multiply to; what is hostile has one in each chunk. */
const maxPlaces = 1_024

/** Where in each event a text stands. */
interface Place {
  inner: Map<string | number, Place>
  pieces: string[]
}

/**
 * What the strings of an answer in a format that is not known amount to, if it comes in pieces (server-sent events, lines or a list of JSON): one
 * text for each place in an event that words stand at. A reader's help and no proof: another format may have words elsewhere.
 */
export function joinPieces(text: string): string[] {
  const top = createPlace()
  const gather = createGatherer()
  for (const piece of piecesIn(text)) gather(top, piece)
  return textsIn(top)
}

function createPlace(): Place {
  return { inner: new Map(), pieces: [] }
}

function createGatherer() {
  let places = 1
  const innerOf = (place: Place, key: string | number): Place | undefined => {
    const known = place.inner.get(key)
    if (known !== undefined || places >= maxPlaces) return known
    places++
    const made = createPlace()
    place.inner.set(key, made)
    return made
  }
  const gatherIn = (place: Place, key: string | number, value: unknown, depth: number, isWord: boolean) => {
    const isText = typeof value === 'string'
    if (isText ? !isWord : typeof value !== 'object' || value === null) return
    const inner = innerOf(place, key)
    if (isText) inner?.pieces.push(value)
    else if (inner !== undefined) gather(inner, value, depth, isWord)
  }
  const gather = (place: Place, value: unknown, depth: number, isWord: boolean): void => {
    if (depth >= maxDepth) return
    if (Array.isArray(value)) {
      // Entries of several choices come in any order.
      for (const [at, entry] of (value as unknown[]).entries())
        gatherIn(place, countOf(fieldAt(entry, 'index')) ?? at, entry, depth + 1, isWord)
      return
    }
    for (const [name, child] of Object.entries(objectOf(value) ?? {}))
      gatherIn(place, name, child, depth + 1, wordNames.has(name))
  }
  return (top: Place, piece: unknown) => {
    if (typeof piece === 'string') top.pieces.push(piece)
    else gather(top, piece, 0, true)
  }
}

function* piecesIn(text: string): Generator {
  if (/^\s*\[/.test(text)) {
    const listed = parseJson(text)
    if (Array.isArray(listed)) yield* listed as unknown[]
    return
  }
  const parse = createParser()
  const events = parseServerSentEvents(text)
  if (events.length === 0) for (const line of text.split('\n')) yield parse(line)
  for (const { data } of events) {
    const parsed = parse(data)
    // The data may be the words themselves, which may be digits.
    if (typeof parsed === 'string' || (typeof parsed === 'object' && parsed !== null)) yield parsed
    else if (data !== '[DONE]') yield data
  }
}

/** To fail takes some microseconds: four million one-letter lines would take half a minute. */
const maxFailures = 1_000

/** `parseJson` that gives up where hardly anything is JSON. */
function createParser() {
  let failures = 0
  return (text: string): unknown => {
    if (failures >= maxFailures || !/^\s*["[{]/.test(text)) return undefined
    const parsed = parseJson(text)
    if (parsed === undefined) failures++
    return parsed
  }
}

/** In the order in which they began. */
function textsIn({ inner, pieces }: Place): string[] {
  const own = pieces.join('')
  return [...(own === '' ? [] : [own]), ...Array.from(inner.values()).flatMap(textsIn)]
}
