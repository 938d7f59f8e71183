import { countOf, fieldAt, objectOf, parseJson } from '../json.ts'
import { parseServerSentEvents } from './server-sent-events.ts'

/**
 * Whether a text that is recorded unparsed is chunked: JSON (a list, lines of objects, or truncated) or an
 * event stream. One text may then be split over several strings, and escapes hide letters. Prose may also
 * begin with a bracket or a field name.
 */
export function isChunked(text: string): boolean {
  const begun = text.trimStart()
  return objectBeginning.test(begun) || beginsAsList(begun) || beginsAsEvents(begun)
}

const objectBeginning = /^\{\s*(?:["}]|$)/
/**
 * What may precede the first string or object of a list. Bounded per match: unlimited repetition overflows
 * the stack at ten million.
 */
const beforeText = /[\s[\d.,eE+-]{1,4096}|null|true|false/y

function beginsAsList(text: string): boolean {
  if (!text.startsWith('[')) return false
  beforeText.lastIndex = 0
  let end = 0
  while (beforeText.test(text)) end = beforeText.lastIndex
  const begun = text.slice(0, end)
  const next = text.charAt(begun.length)
  if (next !== ']') return next === '' || next === '"' || next === '{'
  const behind = text.slice(begun.length + 1)
  const after = behind.trimStart()
  // "[1], [2]" cites sources in prose, but "[[1], [2]]" is a list.
  if (begun.lastIndexOf('[') > 0) return after === '' || /^[,\]]/.test(after)
  return after === '' || (/^[[{]/.test(after) && behind.slice(0, -after.length).includes('\n'))
}

/** A line with a field other than data, a comment, or an empty line. */
const fieldLine = /(?:(?:event|id|retry)?:[^\r\n]*)?(?:\r\n|\r|\n)/y
/** No prose begins with so many. */
const maxFieldLines = 1_000

/** A field name without data is prose; comments may come alone while the answer is pending. */
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

/** Members with generated text. Identifiers and times would be joined into meaningless numbers. */
const wordNames = new Set([
  ...['content', 'text', 'value', 'delta', 'token', 'response', 'message', 'answer', 'completion'],
  ...['output', 'output_text', 'outputText', 'generated_text', 'generation', 'refusal', 'transcript'],
  ...['thinking', 'reasoning', 'reasoning_content', 'arguments', 'partial_json', 'code'],
])
/** Chat completions have tool arguments seven levels deep. */
const maxDepth = 10
/** Real formats need choices times kinds times levels; a hostile one has a new path in each chunk. */
const maxNodes = 1_024

/** A path within an event, with the strings found there. */
interface PathNode {
  inner: Map<string | number, PathNode>
  pieces: string[]
}

/**
 * The texts of a chunked answer in an unknown format (SSE, JSON lines or a JSON list): one for each path in
 * an event. An aid for readers, not proof: another format may keep text elsewhere.
 */
export function joinPieces(text: string): string[] {
  const top = createNode()
  const collect = createCollector()
  for (const piece of chunksIn(text)) collect(top, piece)
  return textsIn(top)
}

function createNode(): PathNode {
  return { inner: new Map(), pieces: [] }
}

function createCollector() {
  let nodeCount = 1
  const innerOf = (node: PathNode, key: string | number): PathNode | undefined => {
    const known = node.inner.get(key)
    if (known !== undefined || nodeCount >= maxNodes) return known
    nodeCount++
    const made = createNode()
    node.inner.set(key, made)
    return made
  }
  const collectIn = (
    node: PathNode,
    key: string | number,
    value: unknown,
    depth: number,
    isWord: boolean,
  ) => {
    const isText = typeof value === 'string'
    if (isText ? !isWord : typeof value !== 'object' || value === null) return
    const inner = innerOf(node, key)
    if (isText) inner?.pieces.push(value)
    else if (inner !== undefined) collect(inner, value, depth, isWord)
  }
  const collect = (node: PathNode, value: unknown, depth: number, isWord: boolean): void => {
    if (depth >= maxDepth) return
    if (Array.isArray(value)) {
      // Entries of several choices come in any order.
      for (const [at, entry] of (value as unknown[]).entries())
        collectIn(node, countOf(fieldAt(entry, 'index')) ?? at, entry, depth + 1, isWord)
      return
    }
    for (const [name, child] of Object.entries(objectOf(value) ?? {}))
      collectIn(node, name, child, depth + 1, wordNames.has(name))
  }
  return (top: PathNode, piece: unknown) => {
    if (typeof piece === 'string') top.pieces.push(piece)
    else collect(top, piece, 0, true)
  }
}

function* chunksIn(text: string): Generator {
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
    // The data may be the text itself, which may be digits.
    if (typeof parsed === 'string' || (typeof parsed === 'object' && parsed !== null)) yield parsed
    else if (data !== '[DONE]') yield data
  }
}

/** A failure takes some microseconds, so four million one-letter lines would take half a minute. */
const maxFailures = 1_000

/** `parseJson` that stops trying when hardly anything is JSON. */
function createParser() {
  let failures = 0
  return (text: string): unknown => {
    if (failures >= maxFailures || !/^\s*["[{]/.test(text)) return undefined
    const parsed = parseJson(text)
    if (parsed === undefined) failures++
    return parsed
  }
}

/** In order of first appearance. */
function textsIn({ inner, pieces }: PathNode): string[] {
  const own = pieces.join('')
  return [...(own === '' ? [] : [own]), ...Array.from(inner.values()).flatMap(textsIn)]
}
