import { types } from 'node:util'
import { listOf, objectOf, textOf } from '../../../capture/json.ts'
import { beginningOf } from './beginning-of.ts'
import {
  areHeaders,
  entriesToRecord,
  fieldToRecord,
  namesHeaders,
  textToRecord,
  withoutCredentials,
  wordsToRecord,
  type Surroundings,
} from './credentials.ts'
import { isOfTransport } from './http-messages.ts'
import { messageOf } from './message-of.ts'
import { isOpaque, isReadLater, kindOf } from './unseen-value.ts'

/** Limits for recorded values of traced functions: a log of calls, not a memory dump. */
const maxDepth = 16
const maxEntries = 1_000
const maxValues = 20_000
export const maxTextLength = 64 * 1024
/** For all texts of one walk: 20,000 of maximum length would take 1.3 GB. */
const maxTotalLength = 2 ** 20

/**
 * A JSON-compatible snapshot of `value`, which the program may change later. Cycles, BigInt, class instances,
 * buffers, maps, functions and throwing getters become texts or plain objects. What is too deep or too large
 * is truncated and marked, as is what cannot be seen: streams, promises, bytes, private fields. Never throws.
 */
export function plainValue(value: unknown): unknown {
  return takeSnapshot(value).value
}

/**
 * `isCut`: text may be missing, so the value cannot be judged harmless. Not set for a list of small numbers,
 * such as a vector.
 */
export interface Snapshot {
  value: unknown
  isCut: boolean
}

export function takeSnapshot(value: unknown): Snapshot {
  const { plain, isCut } = createPlainWalk()
  return { value: plain(value), isCut: isCut() }
}

/** Marks a truncated body, for the scorers. */
export function cutMark({ isCut }: Snapshot): { truncated?: true } {
  return isCut ? { truncated: true } : {}
}

export interface PlainWalk {
  plain: (value: unknown) => unknown
  isCut: () => boolean
}

/** `takeValue` for consecutive values that share its limits. */
export function createPlainWalk(): PlainWalk {
  const left = { values: maxValues, textLength: maxTotalLength }
  const cut = { isCut: false }
  return {
    plain: (value) => plain(value, { depth: 0, left, cut, above: [], isInHeaders: false }),
    isCut: () => cut.isCut,
  }
}

/** `above`: the enclosing objects. */
interface Walk extends Surroundings {
  depth: number
  left: { values: number; textLength: number }
  cut: { isCut: boolean }
}

function plain(value: unknown, walk: Walk): unknown {
  if (walk.left.values-- <= 0) return placeholder('[too much]', walk)
  switch (typeof value) {
    case 'string':
      return cutText(textToRecord(value, walk), walk)
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'boolean':
    case 'undefined':
      return value
    case 'bigint':
    case 'symbol':
      return cutText(value.toString(), walk)
    case 'function':
      return readable(() => cutText(`[function ${value.name || 'anonymous'}]`, walk), walk)
    case 'object':
      return value === null ? null : plainObject(value, walk)
  }
}

/** A proxy or getter of the program may throw anything. */
function readable(read: () => unknown, walk: Walk): unknown {
  try {
    return read()
  } catch (error) {
    return placeholder(`[unreadable: ${messageOf(error)}]`, walk)
  }
}

/** A placeholder for a value. */
function placeholder(note: string, { cut }: Walk): string {
  cut.isCut = true
  return note
}

/** `more`: characters that follow `text`. */
function cutText(text: string, walk: Walk, more = 0): string {
  const { left } = walk
  const kept = Math.min(text.length, maxTextLength, left.textLength)
  left.textLength -= kept
  const length = text.length + more
  return kept === length ? text : placeholder(cutShort(beginningOf(text, kept), length), walk)
}

/** Marks a truncated text with the number of missing characters. */
export function cutShort(beginning: string, length: number): string {
  return `${beginning}… (${length - beginning.length} more characters)`
}

function plainObject(value: object, walk: Walk): unknown {
  if (walk.above.includes(value)) return '[circular]'
  if (walk.depth >= maxDepth) return placeholder('[too deep]', walk)
  const inner: Walk = { ...walk, depth: walk.depth + 1, above: [...walk.above, value] }
  return readable(() => {
    if (isOfTransport(value, walk.above)) return `[${kindOf(value)}]`
    // Its fields are recorded anyway: a page of a list can also be iterated for the following pages.
    if (isReadLater(value)) walk.cut.isCut = true
    return knownKind(value, inner) ?? fieldsOf(value, inner)
  }, walk)
}

function knownKind(value: object, walk: Walk): unknown {
  if (Array.isArray(value)) return entriesOf(value, value.length, walk)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (isError(value)) return errorOf(value, walk)
  if (value instanceof RegExp) return cutText(String(value), walk)
  if (value instanceof URL || value instanceof URLSearchParams)
    return cutText(withoutCredentials(String(value)), walk)
  if (value instanceof Intl.Locale) return cutText(value.toString(), walk)
  if (value instanceof Promise) return placeholder('[promise]', walk)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return bytesOf(value, walk)
  if (value instanceof Map) return { Map: entriesOf(value, value.size, walk) }
  if (value instanceof Set) return { Set: entriesOf(value, value.size, walk) }
  if (isBoxed(value)) return plain(value.valueOf(), walk)
  if (hasToJson(value)) return plain(withoutClass(value.toJSON()), walk)
  return undefined
}

/** Includes errors of other contexts (`node:vm`), which are no instances. */
function isError(value: object): value is Error {
  if (value instanceof Error) return true
  // oxlint-disable-next-line typescript/no-deprecated -- Node 22 has no other
  return 'isError' in Error ? Error.isError(value) : types.isNativeError(value)
}

const namesOfErrors = new Set(['name', 'message', 'stack'])
/** Error codes of Node and the system. */
const codesOfErrors = new Set(['errno', 'code', 'syscall'])

/** Clients attach requests with keys to errors: of other fields only the number is recorded. */
function errorOf(value: Error, walk: Walk): object {
  const said: Record<string, unknown> = {
    name: saidAs(value.name, walk),
    message: saidAs(value.message, walk),
  }
  let more = 0
  for (const [name, own] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (namesOfErrors.has(name) || ('value' in own && own.value === undefined)) continue
    const isCode = codesOfErrors.has(name) && ['string', 'number'].includes(typeof own.value)
    if (isCode) said[name] = plain(own.value, walk)
    else more++
  }
  return more === 0 ? said : { ...said, '…': placeholder(`[${more} more]`, walk) }
}

/** Some programs use an object as a message, or a number as a name. */
function saidAs(words: unknown, walk: Walk): unknown {
  if (typeof words !== 'string') return plain(words, walk)
  // Clients quote whole answers: redacting ten megabytes would block the program for most of a second.
  const begun = words.slice(0, 2 * maxTextLength)
  return cutText(wordsToRecord(begun), walk, words.length - begun.length)
}

function bytesOf(value: ArrayBufferView | ArrayBuffer, walk: Walk): string {
  const note = `[${value.constructor.name} of ${value.byteLength} bytes]`
  return value.byteLength === 0 || isVector(value) ? note : placeholder(note, walk)
}

/** Texts have elements of one or two bytes, embeddings larger ones. */
function isVector(value: ArrayBufferView | ArrayBuffer): boolean {
  if (value instanceof ArrayBuffer || value instanceof DataView) return false
  const numbers = value as Float32Array
  return numbers.BYTES_PER_ELEMENT > 2 && isHarmless(numbers)
}

function isBoxed(value: object): boolean {
  return [String, Number, Boolean, BigInt, Symbol].some((type) => value instanceof type)
}

function hasToJson(value: object): value is { toJSON: () => unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

/** Replaces LangChain's class path, which scorers would read, by the class name as a key, like `Map`. */
function withoutClass(json: unknown): unknown {
  const { lc, id, kwargs } = objectOf(json) ?? {}
  const name = textOf(listOf(id).at(-1))
  return lc === 1 && name !== undefined && objectOf(kwargs) !== undefined ? { [name]: kwargs } : json
}

function entriesOf(list: Iterable<unknown>, length: number, walk: Walk): unknown[] {
  const kept: unknown[] = []
  for (const entry of entriesToRecord(firstOf(list), walk)) {
    if (walk.left.values <= 0) break
    kept.push(plain(entry, walk) ?? null)
  }
  if (length === kept.length) return kept
  const note = `[${length - kept.length} more]`
  return [...kept, isHarmless(list) ? note : placeholder(note, walk)]
}

function firstOf(list: Iterable<unknown>): unknown[] {
  const first: unknown[] = []
  for (const entry of list) {
    if (first.length === maxEntries) break
    first.push(entry)
  }
  return first
}

/** Longer lists are not examined, as the program waits. */
const maxNumbers = 100_000

/** Whether a list has only numbers, none with seven digits, which might be personal data. */
function isHarmless(list: Iterable<unknown>): boolean {
  let seen = 0
  for (const entry of list) {
    if (typeof entry !== 'number' || ++seen > maxNumbers) return false
    if (Number.isInteger(entry) && Math.abs(entry) >= 1e6) return false
  }
  return true
}

function formOf(value: object, walk: Walk): object | undefined {
  // By name first: loading the class takes 35 ms.
  if (kindOf(value) !== 'FormData' || !(value instanceof FormData)) return undefined
  return { FormData: entriesOf(value, [...value.keys()].length, walk) }
}

function fieldsOf(value: object, walk: Walk): unknown {
  // No prototype, so that `__proto__` is an ordinary field.
  const fields = Object.create(null) as Record<string, unknown>
  const names = Object.keys(value)
  if (names.length === 0 && isOpaque(value))
    return formOf(value, walk) ?? placeholder(`[${kindOf(value)}]`, walk)
  const others = areHeaders(names.slice(0, maxEntries))
  let kept = 0
  for (const name of names) {
    if (kept === maxEntries || walk.left.values <= 0) break
    const inner = namesHeaders(name) ? { ...walk, isInHeaders: true } : walk
    const read = () => (value as Record<string, unknown>)[name]
    fields[cutText(name, walk)] = readable(
      () => plain(fieldToRecord({ name, others, read }, walk), inner),
      walk,
    )
    kept++
  }
  if (names.length > kept) fields['…'] = placeholder(`[${names.length - kept} more]`, walk)
  return fields
}
