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

/** JSON text as a value; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
