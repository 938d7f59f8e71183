import { fieldAt, listOf, objectOf } from './json.ts'
import { isToolCallRecord } from './tool-calls.ts'

/**
 * The text of a body of unknown shape: arguments of a tool call or traced function, the content of a wrapped
 * body, or the whole body.
 */
export function payloadOf(body: unknown): unknown {
  const type = fieldAt(body, 'type')
  if (isToolCallRecord(body) || (type === 'trace' && fieldAt(body, 'function') !== undefined))
    return fieldAt(body, 'arguments')
  return unwrapped(body)
}

/**
 * The text of a body that the gateway or SDK wrapped, or its joined chunks; otherwise the body. A body with
 * further fields is not wrapped.
 */
export function unwrapped(body: unknown): unknown {
  if (isCutText(body)) return fieldAt(body, 'text')
  const isRaw = fieldAt(body, 'encoding') === 'utf8' && typeof fieldAt(body, 'raw') === 'string'
  if (!isRaw || !Object.keys(objectOf(body) ?? {}).every((name) => rawKeys.has(name))) return body
  const joined = listOf(fieldAt(body, 'joined'))
  return joined.length > 0 ? joined : fieldAt(body, 'raw')
}

/** A value that the SDK truncated has further fields, and stays as it is. */
function isCutText(body: unknown): boolean {
  if (fieldAt(body, 'truncated') !== true || typeof fieldAt(body, 'text') !== 'string') return false
  const { bytes = 0, sha256 = '' } = objectOf(body) ?? {}
  if (typeof bytes !== 'number' || typeof sha256 !== 'string' || !hash.test(sha256)) return false
  return Object.keys(objectOf(body) ?? {}).every((name) => wrapperKeys.has(name))
}

/** Hexadecimal; empty if unknown. */
const hash = /^(?:[0-9a-f]{64})?$/
const rawKeys = new Set(['raw', 'encoding', 'joined'])
const wrapperKeys = new Set(['truncated', 'bytes', 'sha256', 'text'])
