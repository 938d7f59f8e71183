import type { Answer } from '../../api/call-api.ts'
import type { SearchTexts } from '../../formats/search-texts.ts'
import { toVisibleText } from '../../formats/visible-text.ts'
import { findingStates, type FindingState } from './finding-texts.ts'

/** Filters besides the state, named as in the address and the API. */
export const filterLabels = {
  severity: 'Severity',
  scorer_name: 'Scorer',
  agent_name: 'Agent',
  tool_name: 'Tool',
  owner: 'Owner',
  overdue: 'Overdue',
} as const
type FilterName = keyof typeof filterLabels
export type FindingFilters = Partial<Record<FilterName, string>>

const filterNames = Object.keys(filterLabels) as FilterName[]

/** The filters in the address. */
export function readFilters(texts: SearchTexts): FindingFilters {
  return Object.fromEntries(
    filterNames.flatMap((name) => (texts[name] === undefined ? [] : [[name, texts[name]]])),
  )
}

/** The state in the address: the queue is what is open. */
export function readState({ state = 'open' }: SearchTexts): FindingState | 'all' {
  return state === 'all' ? state : (findingStates.find((each) => each === state) ?? 'open')
}

/** The API's query; it refuses unknown values in words. */
export function queryOf(filters: FindingFilters, state: FindingState | 'all') {
  const { severity, overdue, ...rest } = filters
  return {
    ...rest,
    severity: severity as 'medium' | 'high' | 'critical' | undefined,
    overdue: overdue as 'true' | undefined,
    state: state === 'all' ? undefined : state,
  }
}

type Facets = Answer<'GET /api/findings/facets'>

interface FilterChoices {
  group: string
  items: { value: string; label: string }[]
}

const offered = ['severity', 'scorer_name', 'agent_name', 'tool_name'] as const

/** What the filter field offers: the values of the findings shown, with their counts. */
export function choicesOf(facets: Facets | undefined, me: { id: string } | undefined): FilterChoices[] {
  if (facets === undefined) return []
  return [
    ...offered.map((name) => ({
      group: filterLabels[name],
      items: facets[name].map(({ value, count }) => ({
        value: `${name}=${value}`,
        label: `${toVisibleText(value)} (${count})`,
      })),
    })),
    {
      group: 'Work',
      items: [
        { value: 'overdue=true', label: `Overdue (${facets.overdue})` },
        ...(me === undefined ? [] : [{ value: `owner=${me.id}`, label: 'Owned by me' }]),
      ],
    },
  ].filter(({ items }) => items.length > 0)
}

/** The change of the address for a chosen value. */
export function readChoice(choice: string): SearchTexts {
  const at = choice.indexOf('=')
  return { [choice.slice(0, at)]: choice.slice(at + 1) }
}
