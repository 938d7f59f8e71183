import { objectOf } from '../json.ts'
import { grownFrom } from './merge-delta.ts'

/** A usage has its details one level down, and those of iterations two. */
const maxDepth = 4

/**
 * What a provider says of its tokens, with what it says later: counts of a stream only grow, and the later
 * ones hold. A zero or null in the place of a count says nothing: some hosts end with a usage of zeros.
 */
export function laterCounts(known: unknown, later: unknown, depth = 0): unknown {
  const [before, after] = [objectOf(known), objectOf(later)]
  if (before === undefined || after === undefined || depth >= maxDepth)
    return saysNothing(later) ? (known ?? later) : later
  // In place, or each chunk would cost a copy.
  const counts = grownFrom(before)
  for (const [name, value] of Object.entries(after))
    counts[name] = laterCounts(counts[name], value, depth + 1)
  return counts
}

function saysNothing(value: unknown): boolean {
  return value === null || value === undefined || value === 0
}
