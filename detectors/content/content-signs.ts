import type { Sign } from '../linear/text-features.ts'
import { rememberLast } from '../remember-last.ts'
import { harmTopics } from './harm-lexicon.ts'
import { findGated } from '../gate/gated-pattern.ts'
import { wordStartsOf } from '../gate/word-starts.ts'

const maxCounted = 20
/** A question of one line seldom states harm, and words that look harmful are often innocent in it. */
const shortQuestion = /^[^\n]{1,160}\?\s*$/

/** Features besides words: lexicon topics by count and by share of the text, alone and combined. */
export const contentSigns = rememberLast((folded: string): Sign[] => {
  const starts = wordStartsOf(folded)
  let words = 0
  const signs: Sign[] = []
  const named = new Set<string>()
  for (const { name, pattern } of harmTopics) {
    const count = findGated(folded, starts, pattern, maxCounted).length
    if (count === 0) continue
    words ||= (folded.match(/\s+/g)?.length ?? 0) + 1
    named.add(name)
    signs.push({ name, weight: Math.log2(1 + count) })
    signs.push({ name: `share of ${name}`, weight: Math.min(2, (20 * count) / words) })
  }
  const isAgainstGroup =
    named.has('groups') && ['contempt', 'slurs', 'violence'].some((name) => named.has(name))
  if (isAgainstGroup) signs.push({ name: 'against a group', weight: 1 })
  if (named.has('sexual_acts') && named.has('minors')) signs.push({ name: 'sexual, with minors', weight: 1 })
  if (shortQuestion.test(folded)) signs.push({ name: 'short question', weight: 1 })
  return signs
})
