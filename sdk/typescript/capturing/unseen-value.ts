import { isReadToEnd, isUnanswered } from './http-messages.ts'

/**
 * Objects with hidden content: their names, and how to detect them. Only getters of platform types are read.
 */

/** Methods of streams, of answers and files, and of promises. */
const laterMethods = ['getReader', 'arrayBuffer', 'then'] as const

/** Whether its content appears only when it is read or awaited. */
export function isReadLater(value: object): boolean {
  const isLater =
    Symbol.asyncIterator in value || laterMethods.some((name) => name in value && isMethod(value, name))
  return isLater ? !isSpent(value) : isUnanswered(value)
}

/** Whether it is a consumed answer or stream: clients return it beside what they made of it. */
function isSpent(value: object): boolean {
  return isReadToEnd(value) || ('bodyUsed' in value && isResponse(value) && value.bodyUsed === true)
}

/** Includes those of undici and node-fetch, which have other classes. */
function isResponse(value: object): boolean {
  return value instanceof Response || kindOf(value) === 'Response'
}

/** A schema may have a field named `then`. */
function isMethod(value: object, name: string): boolean {
  return typeof nearest(value, name) === 'function'
}

/**
 * Whether an object without enumerable fields may have content: private or inherited fields, or platform
 * state.
 */
export function isOpaque(value: object): boolean {
  return !isPlain(value) && !isSpent(value) && !isBare(value) && !isSideKind(kindOf(value))
}

/** They control cancellation, hold data of other recorded objects, or describe text encodings. */
const sideKinds = new Set([
  ...['AbortSignal', 'AbortController', 'WeakMap', 'WeakSet', 'AsyncLocalStorage'],
  ...['TextEncoder', 'TextDecoder'],
])

function isSideKind(kind: string): boolean {
  return sideKinds.has(kind) || kind.startsWith('Intl.')
}

/** No prototype, or `Object.prototype` of any realm. */
function isPlain(value: object): boolean {
  const prototype = prototypeOf(value)
  return prototype === null || isRoot(prototype)
}

function isRoot(prototype: object): boolean {
  return prototypeOf(prototype) === null
}

/** Code that reads private fields (also compiled), WeakMaps beside objects, and native code. */
const hidingCode = /\.\s*#[\p{ID_Start}$_\\]|WeakMap|PrivateField|\b[gs]et\(this\b|\[native code\]/u

/** Every event target has its listeners. */
const keysOfTargets = new Set(Reflect.ownKeys(new EventTarget()))

/** Whether it is stateless: clients and programs pass many objects that consist of methods. */
function isBare(value: object): boolean {
  if (Reflect.ownKeys(value).some((key) => !keysOfTargets.has(key)) || Symbol.iterator in value) return false
  for (let at = prototypeOf(value); at !== null && !isRoot(at); at = prototypeOf(at)) {
    if (at === EventTarget.prototype) return true
    const maker = ownValue(at, 'constructor')
    if (typeof maker !== 'function' || hidingCode.test(Function.prototype.toString.call(maker))) return false
    if (Object.values(Object.getOwnPropertyDescriptors(at)).some((own) => own.get !== undefined)) return false
  }
  return true
}

/** The class or kind of an object: `Response`, `Map Iterator`. */
export function kindOf(value: object): string {
  for (let at = prototypeOf(value); at !== null; at = prototypeOf(at)) {
    const kind = ownValue(at, Symbol.toStringTag)
    if (typeof kind === 'string') return kind
    const maker = ownValue(at, 'constructor')
    const name = typeof maker === 'function' ? ownValue(maker, 'name') : undefined
    if (typeof name === 'string' && name !== '') return name
  }
  return 'object'
}

function nearest(value: object, name: string): unknown {
  for (let at: object | null = value; at !== null; at = prototypeOf(at))
    if (Object.hasOwn(at, name)) return ownValue(at, name)
  return undefined
}

/** Undefined for a getter. */
function ownValue(value: object, name: PropertyKey): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value
}

function prototypeOf(value: object): object | null {
  return Object.getPrototypeOf(value) as object | null
}
