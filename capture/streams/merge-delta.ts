import { fieldAt, listOf, objectOf, type JsonObject } from '../json.ts'
import type { Growth } from './stream-assembly.ts'

/** A mutable object. It has no prototype, so `__proto__` in a chunk is an ordinary field. */
export type Growing = Record<string, unknown>

export function growing(from: JsonObject = {}): Growing {
  return Object.assign(Object.create(null) as Growing, from)
}

/**
 * Returns the object itself if it is already mutable, otherwise a mutable copy: chunks stay unchanged, and no
 * chunk costs a copy of all before it.
 */
export function grownFrom(value: unknown): Growing {
  const object = objectOf(value)
  // JSON.parse always sets a prototype.
  const isGrowing = object !== undefined && Object.getPrototypeOf(object) === null
  return isGrowing ? object : growing(object)
}

/** Lists that grow in place, with an index of their entries. */
const ownLists = new WeakMap<readonly unknown[], KnownPositions>()

interface KnownPositions {
  count: number
  positions: Map<unknown, number>
}

function makeOwn(list: readonly unknown[]): KnownPositions {
  const known = { count: 0, positions: new Map<unknown, number>() }
  ownLists.set(list, known)
  return known
}

/** Returns the list itself if it already grows in place, otherwise a copy that does. */
function listFrom(value: unknown): unknown[] {
  if (Array.isArray(value) && ownLists.has(value)) return value as unknown[]
  const list = Array.isArray(value) ? [...(value as unknown[])] : partsOf(value)
  makeOwn(list)
  return list
}

/** The list in `fields[name]`, which grows in place: an answer may have tens of thousands of deltas. */
export function listIn(fields: Growing, name: string): unknown[] {
  const known = fields[name]
  const list = listFrom(Array.isArray(known) ? known : undefined)
  fields[name] = list
  return list
}

/** Fields that arrive complete; some hosts repeat them in every chunk. */
const wholeFields = new Set(['role', 'id', 'type', 'name', 'index', 'format'])

/** Maximum `index` of list entries: far more than any answer has. */
export const maxIndex = 1024

/**
 * Merges a delta: strings are concatenated, objects merged, lists merged by `index`; anything else is
 * replaced.
 */
export function mergeDelta(into: Growing, delta: JsonObject): void {
  for (const [name, value] of Object.entries(delta)) {
    if (value === null || value === undefined) into[name] ??= null
    else into[name] = merged(name, into[name], value)
  }
}

function merged(name: string, old: unknown, value: unknown): unknown {
  if (typeof value === 'string') {
    if (wholeFields.has(name)) return typeof old === 'string' && old !== '' ? old : value
    if (Array.isArray(old)) return mergedList(listFrom(old), partsOf(value))
    return typeof old === 'string' ? old + value : value
  }
  if (Array.isArray(value)) return mergedList(listFrom(old), listOf(value))
  const object = objectOf(value)
  if (object === undefined) return value
  const into = grownFrom(old)
  mergeDelta(into, object)
  return into
}

/** Mistral's content is a text in some chunks and a list of parts in others. */
function partsOf(text: unknown): unknown[] {
  return typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : []
}

/** In place: copies for 70,000 log probabilities would take a minute. */
function mergedList(list: unknown[], added: readonly unknown[]): unknown[] {
  for (const entry of added) {
    const index = fieldAt(entry, 'index')
    const object = objectOf(entry)
    const position = typeof index === 'number' ? positionOf(list, index) : undefined
    // Entries beyond the limit share the last one.
    const at =
      position === undefined || (position === -1 && list.length >= maxIndex) ? list.length - 1 : position
    const known = objectOf(list[at])
    if (object === undefined || known === undefined || !continues(known, object)) list.push(entry)
    else {
      const into = grownFrom(known)
      mergeDelta(into, object)
      list[at] = into
    }
  }
  return list
}

/**
 * Position of the last entry with `index`; -1 if there is none. Indexed, as a search would cost a thousand
 * steps per delta.
 */
function positionOf(list: readonly unknown[], index: number): number {
  const known = ownLists.get(list) ?? makeOwn(list)
  for (; known.count < list.length; known.count += 1)
    known.positions.set(fieldAt(list[known.count], 'index'), known.count)
  return known.positions.get(index) ?? -1
}

/** Parts without an index continue the last one if they are text of the same kind. */
function continues(known: JsonObject, entry: JsonObject): boolean {
  if (typeof entry['index'] === 'number') return true
  const type = entry['type']
  return (type === 'text' || type === 'thinking') && known['type'] === type
}

/** The entry at `index`; entries beyond the limit share the last. */
export function entryAt<T>(entries: Map<number, T>, index: unknown, make: () => T): T {
  const at = typeof index === 'number' && Number.isInteger(index) ? Math.min(Math.max(index, 0), maxIndex) : 0
  const known = entries.get(at)
  if (known !== undefined) return known
  const entry = make()
  entries.set(at, entry)
  return entry
}

/** Entries in order of their index. */
export function inOrder<T>(entries: ReadonlyMap<number, T>): T[] {
  return [...entries].sort(([a], [b]) => a - b).map(([, entry]) => entry)
}

/** The growth of a text in `into[name]`. */
export function growthIn(into: Growing, name: string, text: string): Growth | undefined {
  if (typeof into[name] !== 'string') return undefined
  return {
    text,
    append: (more) => {
      into[name] = (into[name] as string) + more
    },
  }
}
