import { countParts, timesIn } from './record/scan-json.ts'

/**
 * Objects, arrays and strings that a record may hold. Parsed they take at most 46 MB, where 10 MiB of `{},` took 250; an answer of 4 MiB that is
 * all token probabilities has 370,000.
 */
export const maxParts = 500_000

/** A parsed JSON object whose fields may hold anything: bodies are other people's. */
export type JsonObject = Readonly<Record<string, unknown>>

export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined
}

/** The elements of an array; nothing of anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

/** A string with something in it. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** No call has a quadrillion of anything; sums of a few counts stay below 2^52, up to which Avro's longs are exact. */
const largestCount = 2 ** 50

/** A count: a whole number that is neither negative nor absurd. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= largestCount
    ? value
    : undefined
}

/** The value at `path`, undefined where a step leads nowhere. Own fields only: `__proto__` in a body is a name like any other. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let current = value
  for (const name of path) {
    const object = objectOf(current)
    if (object === undefined || !Object.hasOwn(object, name)) return undefined
    current = object[name]
  }
  return current
}

/** JSON text as a value; undefined when it is none, and when it has more parts than a record may hold. */
export function parseJson(text: string): unknown {
  if (hasManyParts(text)) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Whether a JSON text holds more than `most` objects, arrays and strings. */
export function hasManyParts(text: string, most = maxParts): boolean {
  // A part has a character at least, and few texts come near: 4 MB of vectors are known to be few parts in 0.4 ms, where counting takes 15.
  return text.length > most && boundOfParts(text) > most && countParts(Buffer.from(text), most) > most
}

/** No less than the objects, arrays and strings that a JSON text holds: brackets and quotes in its words count too. */
export function boundOfParts(text: string): number {
  return timesIn(text, '{') + timesIn(text, '[') + timesIn(text, '"') / 2
}
