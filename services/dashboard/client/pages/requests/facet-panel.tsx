import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Answer } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { useSetTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { formatShort } from '../../formats/format-number.ts'
import { formatCounted } from '../../formats/format-time.ts'
import type { ChosenRange } from '../../formats/time-range.ts'
import { Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { choosing, filterLabels, shownValue } from './read-filters.ts'

const facets = [
  'verdict',
  'scorer_name',
  'severity',
  'status',
  'review',
  'label',
  'agent_name',
  'model',
  'tool_name',
  'provider',
  'source',
] as const
type Facet = (typeof facets)[number]
type Values = Answer<'GET /api/requests/facets'>[Facet]
/** With a scorer filter, these are that scorer's. */
const ofScorer: ReadonlySet<Facet> = new Set(['label', 'severity'])
const shownFirst = 6

interface FacetPanelProps {
  range: ChosenRange
  filters: Readonly<Record<string, string>>
}

/** The values that calls in the range have. */
export function useFacets({ range: { start, end }, filters }: FacetPanelProps) {
  const { id: project_id } = useProject()
  return useApi(
    'GET /api/requests/facets',
    { query: { project_id, start, end, ...filters } },
    { pollMs: 60_000, keepsPrevious: true },
  )
}

/** The filters available in the range, with counts. Choosing a value again removes it. */
export function FacetPanel({ range, filters }: FacetPanelProps) {
  const answer = useFacets({ range, filters })
  // The list beside it shows the error: it used the same filters.
  if (answer.isError && answer.data === undefined) return null
  return (
    <Loaded query={answer}>
      {(found) => (
        <Stack gap="md" component="section" aria-label="Filters">
          <Text size="xs" c="dimmed">
            Of {Object.keys(filters).length === 0 ? 'all calls' : 'matching calls'}{' '}
            {formatCounted(found, range.end === undefined)}
          </Text>
          {facets.map((name) => (
            <FacetValues
              key={name}
              name={name}
              values={found[name]}
              isExact={found.counts_are_exact !== false}
              filters={filters}
            />
          ))}
        </Stack>
      )}
    </Loaded>
  )
}

interface FacetValuesProps {
  name: Facet
  values: Values
  /** False: a lower bound. */
  isExact: boolean
  filters: Readonly<Record<string, string>>
}

function FacetValues({ name, values, isExact, filters }: FacetValuesProps) {
  const chosen = filters[name]
  const setTexts = useSetTexts()
  const [isAll, setAll] = useState(false)
  if (values.length === 0) return null
  const shown = isAll ? values : values.slice(0, shownFirst)
  return (
    <div role="group" aria-label={filterLabels[name]}>
      <Text size="xs" c="dimmed" fw={600} mb={2}>
        {filterLabels[name]}
        {filters['scorer_name'] !== undefined && ofScorer.has(name) ? ' by scorer' : ''}
      </Text>
      {shown.map(({ value, count }) => (
        <Button
          key={value}
          fullWidth
          size="compact-sm"
          {...(value === chosen
            ? { variant: 'light' }
            : { variant: 'subtle', color: 'gray', c: 'var(--mantine-color-text)' })}
          justify="space-between"
          fw={400}
          aria-pressed={value === chosen}
          onClick={() => setTexts(value === chosen ? { [name]: undefined } : choosing(filters, name, value))}
          rightSection={
            <Text size="xs" c="dimmed">
              {formatShort(count)}
              {isExact ? '' : '+'}
            </Text>
          }
        >
          <Text component="span" inherit truncate lh={1.5}>
            <PlainText text={shownValue(name, value)} />
          </Text>
        </Button>
      ))}
      {values.length <= shownFirst ? null : (
        <Group>
          <Button
            size="compact-xs"
            variant="transparent"
            onClick={() => setAll(!isAll)}
            aria-expanded={isAll}
          >
            {isAll ? 'Fewer' : `${values.length - shownFirst} more`}
          </Button>
        </Group>
      )}
    </div>
  )
}
