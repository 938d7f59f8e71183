import { fieldAt, listOf, objectOf, parseJson, textOf, type JsonObject } from '../json.ts'
import type { Growth } from './stream-assembly.ts'

/** An object that grows. Made without a prototype, so that `__proto__` in a chunk is a field like any other. */
export type Growing = Record<string, unknown>

export function growing(from: JsonObject = {}): Growing {
  return Object.assign(Object.create(null) as Growing, from)
}

/** Names and kinds come whole, and some hosts repeat them in every chunk. */
const wholeFields = new Set(['role', 'id', 'type', 'name', 'index', 'format'])

/** Lists have entries with an `index`; 1,024 is far more than any answer has and keeps a hostile one small. */
const maxIndex = 1024

/** Merges a delta: texts grow, objects merge, lists merge by the `index` of their entries, anything else is replaced. */
export function mergeDelta(into: Growing, delta: JsonObject): void {
  for (const [name, value] of Object.entries(delta)) {
    if (value === null || value === undefined) into[name] ??= null
    else into[name] = merged(name, into[name], value)
  }
}

function merged(name: string, old: unknown, value: unknown): unknown {
  if (typeof value === 'string') {
    if (wholeFields.has(name)) return typeof old === 'string' && old !== '' ? old : value
    if (Array.isArray(old)) return mergedList(old as unknown[], partsOf(value))
    return typeof old === 'string' ? old + value : value
  }
  if (Array.isArray(value))
    return mergedList(Array.isArray(old) ? (old as unknown[]) : partsOf(old), listOf(value))
  const object = objectOf(value)
  if (object === undefined) return value
  const into = growing(objectOf(old))
  mergeDelta(into, object)
  return into
}

/** Mistral's content is a text in some chunks and a list of parts in others. */
function partsOf(text: unknown): unknown[] {
  return typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : []
}

/** In place: a copy for each chunk of 70,000 log probabilities would take a minute. */
function mergedList(list: unknown[], added: readonly unknown[]): unknown[] {
  for (const entry of added) {
    const index = fieldAt(entry, 'index')
    const object = objectOf(entry)
    const at =
      typeof index === 'number'
        ? list.findLastIndex((known) => fieldAt(known, 'index') === index)
        : list.length - 1
    const known = objectOf(list[at])
    const isFull = list.length >= maxIndex && typeof index === 'number'
    if (object === undefined || known === undefined || !continues(known, object, isFull)) {
      if (!isFull) list.push(entry)
    } else {
      const into = growing(known)
      mergeDelta(into, object)
      if (namedAnew.has(known) || isNamedAnew(known, object)) namedAnew.add(into)
      list[at] = into
    }
  }
  return list
}

/**
 * Calls that go on under another identifier and their old name (vLLM, where the caller chose the function). Remembered: to see again with
 * each chunk whether the arguments are whole would be quadratic, and of the last, empty one they are.
 */
const namedAnew = new WeakSet<object>()

/** Parts without an index go on where they are words of the same kind. Some hosts give all calls one index: there another named one begins where the arguments are whole. */
function continues(known: JsonObject, entry: JsonObject, isFull: boolean): boolean {
  const type = entry['type']
  if (typeof entry['index'] !== 'number')
    return (type === 'text' || type === 'thinking') && known['type'] === type
  if (!isNamedAnew(known, entry)) return true
  return nameOf(known) === nameOf(entry) && (namedAnew.has(known) || !(isFull || isWhole(known)))
}

/** Whether the entry of a call has a name and another identifier than what is known of it. */
function isNamedAnew(known: JsonObject, entry: JsonObject): boolean {
  const id = textOf(entry['id'])
  return id !== undefined && nameOf(entry) !== undefined && (textOf(known['id']) ?? id) !== id
}

function nameOf(call: JsonObject): string | undefined {
  return textOf(fieldAt(call, 'function', 'name') ?? fieldAt(call, 'custom', 'name'))
}

/** Of a custom tool's input, any text, none can tell. */
function isWhole(call: JsonObject): boolean {
  const text = fieldAt(call, 'function', 'arguments')
  return typeof text !== 'string' || parseJson(text) !== undefined
}

/** The entry for `index` of a list kept by index; entries beyond the bound share the last. */
export function entryAt<T>(entries: Map<number, T>, index: unknown, make: () => T): T {
  const at = typeof index === 'number' && Number.isInteger(index) ? Math.min(Math.max(index, 0), maxIndex) : 0
  const known = entries.get(at)
  if (known !== undefined) return known
  const entry = make()
  entries.set(at, entry)
  return entry
}

/** Entries in the order of their index. */
export function inOrder<T>(entries: ReadonlyMap<number, T>): T[] {
  return [...entries].sort(([a], [b]) => a - b).map(([, entry]) => entry)
}

/** The growth of a text that `into` holds as `name`. */
export function growthIn(into: Growing, name: string, text: string): Growth | undefined {
  if (typeof into[name] !== 'string') return undefined
  return {
    text,
    append: (more) => {
      into[name] = (into[name] as string) + more
    },
  }
}
