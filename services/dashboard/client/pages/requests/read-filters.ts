import type { SearchTexts } from '../../formats/search-texts.ts'

/** What requests are chosen by, as it stands in the address and as the API takes it; beside them `metadata.<key>`. */
export const filterLabels = {
  label: 'Verdict',
  severity: 'Severity',
  status: 'Status',
  scorer_name: 'Scorer',
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

/** Those that take no other values. */
export const filterValues: Readonly<Record<string, readonly string[]>> = {
  label: ['unsafe', 'safe', 'unscored', 'pending'],
  severity: ['critical', 'high', 'medium'],
  status: ['failed', '4xx', '5xx', 'aborted'],
}
const metadataPrefix = 'metadata.'

/** The filters among what stands in the address, time apart. */
export function readFilters(texts: SearchTexts): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).filter(
      (pair): pair is [string, string] => isFilter(pair[0]) && pair[1] !== undefined && pair[1] !== '',
    ),
  )
}

/** As the API takes them. The red team is only in the list where its source is asked for: the counts that lead to the list leave it out, too. */
export function queryOfFilters(filters: Readonly<Record<string, string>>): Record<string, string> {
  return filters['source'] === undefined ? { ...filters, include_redteam: 'false' } : { ...filters }
}

/**
 * What changes in the address when one is chosen beside `filters`. A call without a score was looked at by no scorer and has no severity: the API refuses
 * to be asked for both, so that the later choice takes the place of the earlier one.
 */
export function choosing(
  filters: Readonly<Record<string, string>>,
  name: string,
  value: string,
): SearchTexts {
  const ofScores = ['scorer_name', 'severity']
  if (name === 'label' && value === 'pending')
    return { label: value, ...Object.fromEntries(ofScores.map((each) => [each, undefined])) }
  const isPendingOver = filters['label'] === 'pending' && ofScores.includes(name)
  return { ...(isPendingOver ? { label: undefined } : {}), [name]: value }
}

function isFilter(name: string): boolean {
  return Object.hasOwn(filterLabels, name) || (name.startsWith(metadataPrefix) && name !== metadataPrefix)
}

export function labelOf(name: string): string {
  return Object.hasOwn(filterLabels, name) ? filterLabels[name as FilterName] : name
}
