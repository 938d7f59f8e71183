/** Bounds of what is kept of a traced function's values: a log of calls, not a copy of the program's memory. */
const maxDepth = 16
const maxEntries = 1_000
const maxNodes = 20_000
const maxTextLength = 64 * 1024

/**
 * `value` as JSON can hold it, taken now, because the program may change it later. Cycles, BigInt, class instances, buffers, maps,
 * functions and getters that throw become texts or plain objects; what is too deep, too long or too much is cut and says so. Never throws.
 */
export function plainValue(value: unknown): unknown {
  return plain(value, { depth: 0, nodes: { left: maxNodes }, above: [] })
}

interface Walk {
  depth: number
  nodes: { left: number }
  /** The objects that this one is inside of. */
  above: readonly object[]
}

function plain(value: unknown, walk: Walk): unknown {
  switch (typeof value) {
    case 'string':
      return cutText(value)
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'boolean':
    case 'undefined':
      return value
    case 'bigint':
      return value.toString()
    case 'symbol':
      return value.toString()
    case 'function':
      return `[function ${value.name || 'anonymous'}]`
    case 'object':
      return value === null ? null : plainObject(value, walk)
  }
}

function cutText(text: string): string {
  if (text.length <= maxTextLength) return text
  return `${text.slice(0, maxTextLength)}… (${text.length - maxTextLength} more characters)`
}

function plainObject(value: object, walk: Walk): unknown {
  if (walk.above.includes(value)) return '[circular]'
  if (walk.depth >= maxDepth) return '[too deep]'
  if (walk.nodes.left-- <= 0) return '[too much]'
  try {
    const inner: Walk = { ...walk, depth: walk.depth + 1, above: [...walk.above, value] }
    return knownKind(value, inner) ?? fieldsOf(value, inner)
  } catch (error) {
    // A proxy or a getter of the program's may throw whatever it likes.
    return `[unreadable: ${error instanceof Error ? error.message : String(error)}]`
  }
}

function knownKind(value: object, walk: Walk): unknown {
  if (Array.isArray(value)) return entriesOf(value, walk)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof Error) return { name: value.name, message: cutText(value.message) }
  if (value instanceof RegExp || value instanceof URL) return String(value)
  if (value instanceof Promise) return '[promise]'
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return `[${value.constructor.name} of ${value.byteLength} bytes]`
  if (value instanceof Map) return { Map: entriesOf([...value], walk) }
  if (value instanceof Set) return { Set: entriesOf([...value], walk) }
  if (hasToJson(value)) return plain(value.toJSON(), walk)
  return undefined
}

function hasToJson(value: object): value is { toJSON: () => unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

function entriesOf(list: readonly unknown[], walk: Walk): unknown[] {
  const kept = list.slice(0, maxEntries).map((entry) => plain(entry, walk) ?? null)
  return list.length > maxEntries ? [...kept, `[${list.length - maxEntries} more]`] : kept
}

function fieldsOf(value: object, walk: Walk): unknown {
  // Made without a prototype, so that `__proto__` is a field like any other.
  const fields = Object.create(null) as Record<string, unknown>
  const names = Object.keys(value)
  for (const name of names.slice(0, maxEntries)) fields[name] = plainField(value, name, walk)
  if (names.length > maxEntries) fields['…'] = `[${names.length - maxEntries} more]`
  return fields
}

function plainField(value: object, name: string, walk: Walk): unknown {
  try {
    return plain((value as Record<string, unknown>)[name], walk)
  } catch (error) {
    return `[unreadable: ${error instanceof Error ? error.message : String(error)}]`
  }
}
