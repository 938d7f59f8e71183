import { isReadToEnd, isUnanswered } from './http-messages.ts'

/** Of objects that hold more than their fields show: what they are called, and how they are known. Of their getters only those of the platform's kinds are read. */

/** A stream's reader, an answer's or a file's bytes, and what an awaited one holds. */
const laterMethods = ['getReader', 'arrayBuffer', 'then'] as const

/** Whether what it holds comes only when somebody reads or awaits it, whatever fields it has besides. */
export function isReadLater(value: object): boolean {
  const isLater =
    Symbol.asyncIterator in value || laterMethods.some((name) => name in value && isMethod(value, name))
  return isLater ? !isSpent(value) : isUnanswered(value)
}

/** Whether it is an answer or a stream whose content somebody had: clients give it beside what they made of it. */
function isSpent(value: object): boolean {
  return isReadToEnd(value) || ('bodyUsed' in value && isResponse(value) && value.bodyUsed === true)
}

/** Also one of undici's own or of node-fetch, whose classes are others. */
function isResponse(value: object): boolean {
  return value instanceof Response || kindOf(value) === 'Response'
}

/** A schema may have a field named `then`. */
function isMethod(value: object, name: string): boolean {
  return typeof nearest(value, name) === 'function'
}

/** Whether an object without fields that are listed may hold something all the same: private fields, inherited ones, or what the platform keeps. */
export function isOpaque(value: object): boolean {
  return !isPlain(value) && !isSpent(value) && !isBare(value) && !isSideKind(kindOf(value))
}

/** They say when to stop, what belongs to objects or contexts that are recorded themselves, or how texts are written. */
const sideKinds = new Set([
  ...['AbortSignal', 'AbortController', 'WeakMap', 'WeakSet', 'AsyncLocalStorage'],
  ...['TextEncoder', 'TextDecoder'],
])

function isSideKind(kind: string): boolean {
  return sideKinds.has(kind) || kind.startsWith('Intl.')
}

/** What has no prototype, or `Object.prototype`, of whichever realm. */
function isPlain(value: object): boolean {
  const prototype = prototypeOf(value)
  return prototype === null || isRoot(prototype)
}

function isRoot(prototype: object): boolean {
  return prototypeOf(prototype) === null
}

/** Private fields that are read, also as compilers write them, tables beside the objects, and code that cannot be read. */
const hidingCode = /\.\s*#[\p{ID_Start}$_\\]|WeakMap|PrivateField|\b[gs]et\(this\b|\[native code\]/u

/** What each target of events has: its listeners. */
const keysOfTargets = new Set(Reflect.ownKeys(new EventTarget()))

/** Whether it has no state: clients of providers and programs pass on many objects that consist of methods. */
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

/** Of what class or kind an object is: `Response`, `Map Iterator`. */
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

/** Undefined where a getter would have to be read. */
function ownValue(value: object, name: PropertyKey): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value
}

function prototypeOf(value: object): object | null {
  return Object.getPrototypeOf(value) as object | null
}
