import { isMap, isSeq, type Node } from 'yaml'

/** Source offset of the deepest existing part of `path`. */
export function offsetAt(item: Node, path: readonly PropertyKey[]): number | undefined {
  let node: unknown = item
  let offset = item.range?.[0]
  for (const key of path) {
    if (!isMap(node) && !isSeq(node)) break
    node = node.get(typeof key === 'symbol' ? key.toString() : key, true)
    offset = (node as Node | undefined)?.range?.[0] ?? offset
  }
  return offset
}
