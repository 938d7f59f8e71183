import { callVerdicts } from '#schemas/call-reading.ts'
import type { SearchTexts } from '../../formats/search-texts.ts'
import { verdictWords } from '../../formats/verdict-words.ts'

/** Request filters, named as in the address and the API; `metadata.<key>` comes in addition. */
export const filterLabels = {
  verdict: 'Verdict',
  label: 'Worst label',
  severity: 'Severity',
  status: 'Status',
  scorer_name: 'Scorer',
  review: 'Review',
  model: 'Model',
  agent_name: 'Agent',
  agent_tag: 'Agent tag',
  provider: 'Provider',
  tool_name: 'Tool',
  source: 'Source',
  type: 'Type',
  session_id: 'Session',
  user_id: 'User',
} as const
export type FilterName = keyof typeof filterLabels

/** Filters with a fixed set of values. */
export const filterValues: Readonly<Record<string, readonly string[]>> = {
  verdict: callVerdicts,
  label: ['unsafe', 'safe', 'unscored', 'pending'],
  severity: ['critical', 'high', 'medium'],
  status: ['failed', '4xx', '5xx', 'aborted'],
  review: ['false_alarm', 'confirmed', 'missed', 'unreviewed'],
}

/** As the API takes them. Red-team calls are listed only if their source is selected. */
export function queryOfFilters(filters: Readonly<Record<string, string>>): Record<string, string> {
  return filters['source'] === undefined ? { ...filters, include_redteam: 'false' } : { ...filters }
}

/**
 * Changes of the address when a filter is added to `filters`. Pending calls have no scorer, severity or
 * verdict, and the API rejects the combination, so the later choice replaces the earlier one.
 */
export function choosing(
  filters: Readonly<Record<string, string>>,
  name: string,
  value: string,
): SearchTexts {
  const ofScores = ['scorer_name', 'severity', 'verdict']
  if (name === 'label' && value === 'pending')
    return { label: value, ...Object.fromEntries(ofScores.map((each) => [each, undefined])) }
  const isPendingOver = filters['label'] === 'pending' && ofScores.includes(name)
  return { ...(isPendingOver ? { label: undefined } : {}), [name]: value }
}

/** The value of a filter in words. */
export function shownValue(name: string, value: string): string {
  if (name === 'review') return value.replace('_', ' ')
  return name === 'verdict' && Object.hasOwn(verdictWords, value)
    ? verdictWords[value as keyof typeof verdictWords]
    : value
}
