import type { Attributes } from './otlp-values.ts'
import { parseJson } from '../json.ts'

/** Lists of messages and calls are short; an index beyond is hostile. */
const maxIndex = 10_000
const maxDepth = 12

/**
 * The list under flat attributes with a prefix: `gen_ai.prompt.0.role` is `[{role}]`. Members with several
 * names (`message.tool_calls.0.tool_call.id`) are nested. Gaps are left out.
 */
export function listUnder(attributes: Attributes, prefix: string): readonly unknown[] {
  const entries = new Map<number, Node>()
  for (const [name, value] of attributes) {
    if (!name.startsWith(prefix)) continue
    const path = name.slice(prefix.length).split('.')
    const index = indexOf(path[0])
    if (index === undefined || path.length > maxDepth) continue
    const entry = entries.get(index) ?? new Map<string, unknown>()
    entries.set(index, entry)
    put(entry, path.slice(1), value)
  }
  return [...entries].sort(([one], [other]) => one - other).map(([, entry]) => plain(entry))
}

type Node = Map<string, unknown>

function put(node: Node, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path
  if (rest.length === 0) {
    if (!node.has(name)) node.set(name, value)
    return
  }
  const inner = node.get(name) instanceof Map ? (node.get(name) as Node) : new Map<string, unknown>()
  node.set(name, inner)
  put(inner, rest, value)
}

/** An object, or a list where every name is an index. */
function plain(node: unknown): unknown {
  if (!(node instanceof Map)) return node
  const entries = [...(node as Node)]
  const isList = entries.length > 0 && entries.every(([name]) => indexOf(name) !== undefined)
  if (isList)
    return entries.sort(([one], [other]) => Number(one) - Number(other)).map(([, value]) => plain(value))
  return Object.fromEntries(entries.map(([name, value]) => [name, plain(value)]))
}

function indexOf(name: string | undefined): number | undefined {
  return name !== undefined && /^\d{1,5}$/.test(name) && Number(name) <= maxIndex ? Number(name) : undefined
}

/** A value that may be JSON in text: parsed where it is an object or a list, else as it is. */
export function unpacked(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  return parseJson(value) ?? value
}
