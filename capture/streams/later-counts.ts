import { objectOf } from '../json.ts'
import { grownFrom } from './merge-delta.ts'

/** Usage details are one level deep, those of iterations two. */
const maxDepth = 4

/**
 * Merges token counts: those of a stream only grow, and the later ones count. A zero or null is ignored, as
 * some hosts end with a usage of zeros.
 */
export function laterCounts(known: unknown, later: unknown, depth = 0): unknown {
  const [before, after] = [objectOf(known), objectOf(later)]
  if (before === undefined || after === undefined || depth >= maxDepth)
    return saysNothing(later) ? (known ?? later) : later
  // In place: a copy per chunk would be quadratic.
  const counts = grownFrom(before)
  for (const [name, value] of Object.entries(after))
    counts[name] = laterCounts(counts[name], value, depth + 1)
  return counts
}

function saysNothing(value: unknown): boolean {
  return value === null || value === undefined || value === 0
}
