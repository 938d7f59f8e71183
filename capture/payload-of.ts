import { fieldAt, listOf, objectOf } from './json.ts'
import { isToolCallRecord } from './tool-calls.ts'

/** What is said in a body of no known shape: the arguments of a tool call or of a function that the SDK traced, the text of one that the gateway had to wrap, or all. */
export function payloadOf(body: unknown): unknown {
  const type = fieldAt(body, 'type')
  if (isToolCallRecord(body) || (type === 'trace' && fieldAt(body, 'function') !== undefined))
    return fieldAt(body, 'arguments')
  return unwrapped(body)
}

/** The text of a body that gateway or SDK had to wrap, of one in pieces what they amount to, or the body. One with further fields is somebody's own: its words are in all of them. */
export function unwrapped(body: unknown): unknown {
  if (isCutText(body)) return fieldAt(body, 'text')
  const isRaw = fieldAt(body, 'encoding') === 'utf8' && typeof fieldAt(body, 'raw') === 'string'
  if (!isRaw || !Object.keys(objectOf(body) ?? {}).every((name) => rawKeys.has(name))) return body
  const joined = listOf(fieldAt(body, 'joined'))
  return joined.length > 0 ? joined : fieldAt(body, 'raw')
}

/** Of what the SDK took of a value, cut, the body is what is left: it says so beside fields of its own. */
function isCutText(body: unknown): boolean {
  if (fieldAt(body, 'truncated') !== true || typeof fieldAt(body, 'text') !== 'string') return false
  const { bytes = 0, sha256 = '' } = objectOf(body) ?? {}
  if (typeof bytes !== 'number' || typeof sha256 !== 'string' || !hash.test(sha256)) return false
  return Object.keys(objectOf(body) ?? {}).every((name) => wrapperKeys.has(name))
}

/** Hexadecimal, where it is known. */
const hash = /^(?:[0-9a-f]{64})?$/
const rawKeys = new Set(['raw', 'encoding', 'joined'])
const wrapperKeys = new Set(['truncated', 'bytes', 'sha256', 'text'])
