import { fieldAt, listOf, objectOf, type JsonObject } from '../json.ts'
import type { Growth } from './stream-assembly.ts'

/** An object that grows. Made without a prototype, so that `__proto__` in a chunk is a field like any other. */
export type Growing = Record<string, unknown>

export function growing(from: JsonObject = {}): Growing {
  return Object.assign(Object.create(null) as Growing, from)
}

/** The object itself where it grows already, else a copy that does: what a chunk holds stays as it came, and no chunk costs a copy of all before it. */
export function grownFrom(value: unknown): Growing {
  const object = objectOf(value)
  // JSON makes none without a prototype.
  const isGrowing = object !== undefined && Object.getPrototypeOf(object) === null
  return isGrowing ? object : growing(object)
}

/** Lists that grow in place, and how far their entries are known by index. */
const ownLists = new WeakMap<readonly unknown[], KnownPlaces>()

interface KnownPlaces {
  count: number
  places: Map<unknown, number>
}

function makeOwn(list: readonly unknown[]): KnownPlaces {
  const known = { count: 0, places: new Map<unknown, number>() }
  ownLists.set(list, known)
  return known
}

/** The list itself where it grows already, else one that does, of what stands there. */
function listFrom(value: unknown): unknown[] {
  if (Array.isArray(value) && ownLists.has(value)) return value as unknown[]
  const list = Array.isArray(value) ? [...(value as unknown[])] : partsOf(value)
  makeOwn(list)
  return list
}

/** The list that `fields` holds as `name`, which may grow in place: an answer may have tens of thousands of deltas. */
export function listIn(fields: Growing, name: string): unknown[] {
  const known = fields[name]
  const list = listFrom(Array.isArray(known) ? known : undefined)
  fields[name] = list
  return list
}

/** Names and kinds come whole, and some hosts repeat them in every chunk. */
const wholeFields = new Set(['role', 'id', 'type', 'name', 'index', 'format'])

/** Lists have entries with an `index`; 1,024 is far more than any answer has and keeps a hostile one small. */
export const maxIndex = 1024

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

/** In place: a copy for each chunk of 70,000 log probabilities would take a minute. */
function mergedList(list: unknown[], added: readonly unknown[]): unknown[] {
  for (const entry of added) {
    const index = fieldAt(entry, 'index')
    const object = objectOf(entry)
    const place = typeof index === 'number' ? placeOf(list, index) : undefined
    // Beyond the bound all share the last entry.
    const at = place === undefined || (place === -1 && list.length >= maxIndex) ? list.length - 1 : place
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

/** Where the last entry with `index` stands in one of the lists made here, -1: nowhere. To look for it each time would be a thousand entries a delta. */
function placeOf(list: readonly unknown[], index: number): number {
  const known = ownLists.get(list) ?? makeOwn(list)
  for (; known.count < list.length; known.count += 1)
    known.places.set(fieldAt(list[known.count], 'index'), known.count)
  return known.places.get(index) ?? -1
}

/** Parts without an index go on where they are words of the same kind. */
function continues(known: JsonObject, entry: JsonObject): boolean {
  if (typeof entry['index'] === 'number') return true
  const type = entry['type']
  return (type === 'text' || type === 'thinking') && known['type'] === type
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
