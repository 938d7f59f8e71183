import { fieldAt, listOf, objectOf, textOf } from '../json.ts'

/** Attributes by name: text, numbers, booleans, lists and objects. */
export type Attributes = ReadonlyMap<string, unknown>

export const traceIdForm = /^(?!0+$)[0-9a-f]{32}$/
export const spanIdForm = /^(?!0+$)[0-9a-f]{16}$/

/** An identifier in hex digits; empty where there is none. */
export function idAt(owner: unknown, name: string): string {
  return (textOf(fieldAt(owner, name)) ?? '').toLowerCase()
}

/** The attributes of a span, an event, a log record or a resource. */
export function attributesOf(owner: unknown): Attributes {
  const attributes = new Map<string, unknown>()
  for (const { key, value } of pairsOf(fieldAt(owner, 'attributes'))) attributes.set(key, plainOf(value))
  return attributes
}

function pairsOf(list: unknown): { key: string; value: unknown }[] {
  return listOf(list).flatMap((pair) => {
    const key = textOf(fieldAt(pair, 'key'))
    return key === undefined ? [] : [{ key, value: fieldAt(pair, 'value') }]
  })
}

/** Values of messages are nested five deep at most. */
const maxDepth = 32

/** An AnyValue as JSON has it. Integers beyond 2^53 stay text; null for what is nested too deeply. */
export function plainOf(value: unknown, depth = 0): unknown {
  const any = objectOf(value)
  if (any === undefined || depth > maxDepth) return null
  const { intValue } = any
  if (typeof intValue === 'string' || typeof intValue === 'number') {
    const number = Number(intValue)
    return Number.isSafeInteger(number) ? number : String(intValue)
  }
  if (any['arrayValue'] !== undefined)
    return listOf(fieldAt(any, 'arrayValue', 'values')).map((one) => plainOf(one, depth + 1))
  if (any['kvlistValue'] !== undefined)
    return Object.fromEntries(
      pairsOf(fieldAt(any, 'kvlistValue', 'values')).map(({ key, value: one }) => [
        key,
        plainOf(one, depth + 1),
      ]),
    )
  return any['stringValue'] ?? any['boolValue'] ?? any['doubleValue'] ?? any['bytesValue'] ?? null
}
