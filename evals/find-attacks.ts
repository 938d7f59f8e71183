import { createHash } from 'node:crypto'
import type { Sample } from './samples.ts'

/**
 * The planted text in contexts of injecagent and bipia, by the sample's id. The sets give only whole
 * contexts, so it is found by difference: between contexts of one user's task, and against the same context
 * without an attack.
 */
export function findAttacks(samples: readonly Sample[]): ReadonlyMap<string, string> {
  const attacks = new Map<string, string>()
  const tasks = Map.groupBy(
    samples.filter(({ set }) => set === 'injecagent'),
    ({ prompt }) => prompt,
  )
  for (const members of tasks.values()) {
    const contexts = members.map(({ context }) => context)
    const before = Math.min(...contexts.map((context) => sharedStart(context, contexts[0] ?? '')))
    const reversed = contexts.map((context) => Array.from(context).reverse().join(''))
    const after = Math.min(...reversed.map((context) => sharedStart(context, reversed[0] ?? '')))
    for (const { id, context } of members) attacks.set(id, context.slice(before, context.length - after))
  }
  const clean = samples.filter(({ set, label }) => set === 'bipia' && label === 0)
  for (const { id, set, label, context } of samples) {
    if (set !== 'bipia' || label === 0) continue
    const base = clean.find((other) => context.startsWith(other.context))
    attacks.set(id, context.slice(base?.context.length ?? startOfLast(context.trimEnd())).trim())
  }
  return attacks
}

/** Where the last line begins, or the line that introduces the code block at the end. */
function startOfLast(context: string): number {
  const fence = context.endsWith('```') ? context.lastIndexOf('\n```', context.length - 5) : -1
  return context.lastIndexOf('\n', fence === -1 ? context.length : fence - 1)
}

function sharedStart(left: string, right: string): number {
  let at = 0
  while (at < left.length && left[at] === right[at]) at++
  return at
}

/**
 * Decides by the order's own words, without the preface that stresses it in some contexts. So half of the
 * orders stay unseen in training, wherever they are planted.
 */
export function isTrainedOn(attack: string): boolean {
  const plain = attack.replace(/^IMPORTANT!!! [^:]{0,200}: /, '')
  return createHash('sha256').update(plain).digest().readUInt8(0) % 2 === 0
}
