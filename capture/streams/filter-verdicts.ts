import { fieldAt, objectOf } from '../json.ts'
import { grownFrom } from './merge-delta.ts'

/** Azure's names for filter verdicts: on choices (singular in early versions) and on prompts. */
const verdictNames: ReadonlySet<string> = new Set([
  ...['content_filter_results', 'content_filter_result', 'prompt_filter_results', 'prompt_annotations'],
])
const severities: readonly unknown[] = ['safe', 'low', 'medium', 'high']
const maxDepth = 6
/** Each new entry is compared with all others, in every chunk. */
const maxEntries = 64

export function isFilterVerdict(name: string): boolean {
  return verdictNames.has(name)
}

/**
 * Merges filter verdicts. Azure's asynchronous filter sends one per section of an answer: `filtered` and
 * `detected` stay true, and the worst severity counts.
 */
export function worseVerdict(known: unknown, later: unknown, depth = 0): unknown {
  if (later === null || later === undefined || depth >= maxDepth) return known ?? later
  if (Array.isArray(known) && Array.isArray(later)) return mergedLists(known, later, depth)
  const [before, after] = [objectOf(known), objectOf(later)]
  if (before !== undefined && after !== undefined) {
    // In place: a copy per chunk would be quadratic.
    const verdict = grownFrom(before)
    for (const [name, value] of Object.entries(after))
      verdict[name] = worseVerdict(verdict[name], value, depth + 1)
    return verdict
  }
  if (typeof known === 'boolean' && typeof later === 'boolean') return known || later
  return severities.indexOf(known) > severities.indexOf(later) && severities.includes(later) ? known : later
}

/** Merges verdicts of the same prompt or block list; keeps others apart. */
function mergedLists(known: readonly unknown[], later: readonly unknown[], depth: number): unknown[] {
  const merged = [...known]
  for (const entry of later) {
    const key = keyOf(entry)
    const at = merged.findIndex((one) => keyOf(one) === key)
    if (at !== -1) merged[at] = worseVerdict(merged[at], entry, depth + 1)
    else if (merged.length < maxEntries) merged.push(entry)
  }
  return merged
}

function keyOf(entry: unknown): unknown {
  return fieldAt(entry, 'prompt_index') ?? fieldAt(entry, 'id') ?? JSON.stringify(entry)
}
