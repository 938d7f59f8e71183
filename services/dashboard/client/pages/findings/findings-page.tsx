import { Group, SegmentedControl, Select, Text } from '@mantine/core'
import { useRef, type RefObject } from 'react'
import { useMe } from '../../api/session.ts'
import { useApi, useApiPages } from '../../api/use-api.ts'
import { useSetTexts, useTexts } from '../../app/address.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { useProject } from '../../app/project.ts'
import { formatCount, nounOf } from '../../formats/format-number.ts'
import { FilterPill } from '../../parts/filter-pill.tsx'
import { LoadedPages } from '../../parts/loaded-pages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Nothing } from '../../parts/page-states.tsx'
import { FindingTable } from './finding-table.tsx'
import { findingStates, stateWords } from './finding-texts.ts'
import {
  choicesOf,
  filterLabels,
  queryOf,
  readChoice,
  readFilters,
  readState,
  type FindingFilters,
} from './read-finding-filters.ts'

/** Findings as a queue: what is open, by the time that it was opened. */
export function FindingsPage() {
  const project = useProject()
  const me = useMe().data
  const role = me?.role ?? 'viewer'
  const texts = useTexts()
  const setTexts = useSetTexts()
  const filterField = useRef<HTMLInputElement>(null)
  const isOfAll = texts['of'] === 'all' && role === 'admin'
  const [filters, state] = [readFilters(texts), readState(texts)]
  const query = { ...queryOf(filters, state), ...(isOfAll ? {} : { project_id: project.id }) }
  const findings = useApiPages('GET /api/findings', { query: { ...query, page_size: '50' } })
  return (
    <>
      <PageHead title="Findings">
        {role === 'admin' ? (
          <SegmentedControl
            aria-label="Projects"
            size="xs"
            data={[
              { value: 'one', label: 'This project' },
              { value: 'all', label: 'All projects' },
            ]}
            value={isOfAll ? 'all' : 'one'}
            onChange={(of) => setTexts({ of: of === 'all' ? of : undefined })}
          />
        ) : null}
      </PageHead>
      <FilterBar query={query} filters={filters} field={filterField} />
      <LoadedPages<'GET /api/findings'>
        query={findings}
        empty={
          <Nothing title="No such findings">
            {state === 'open' && Object.keys(filters).length === 0
              ? 'Nothing is open. Failing scores of one kind appear here as one finding.'
              : 'Choose another state, or remove a filter.'}
          </Nothing>
        }
      >
        {(rows) => (
          <FindingTable
            // A selection is of one list.
            key={JSON.stringify(query)}
            findings={rows}
            mayAct={mayVisit(role, { role: 'analyst' })}
            isOfAll={isOfAll}
            focusFilter={() => filterField.current?.focus()}
          />
        )}
      </LoadedPages>
    </>
  )
}

interface FilterBarProps {
  query: ReturnType<typeof queryOf> & { project_id?: string }
  filters: FindingFilters
  field: RefObject<HTMLInputElement | null>
}

/** The state, the active filters, and a field that offers what there is. */
function FilterBar({ query, filters, field }: FilterBarProps) {
  const setTexts = useSetTexts()
  const me = useMe().data
  const read = { pollMs: 60_000, keepsPrevious: true }
  const facets = useApi('GET /api/findings/facets', { query }, read)
  const ofStates = useApi('GET /api/findings/facets', { query: { ...query, state: undefined } }, read)
  const countOf = (state: string) => {
    const count = ofStates.data?.state.find(({ value }) => value === state)?.count ?? 0
    return ofStates.data === undefined ? '' : ` ${formatCount(count)}`
  }
  const total = facets.data?.findings
  return (
    <>
      <Group gap="sm" mb="xs">
        <Select
          ref={field}
          aria-label="Filter"
          placeholder="Filter by scorer, agent, tool…"
          size="xs"
          w={260}
          searchable
          value={null}
          data={choicesOf(facets.data, me ?? undefined)}
          nothingFoundMessage="No such value among these findings"
          onChange={(choice) => {
            if (choice !== null) setTexts(readChoice(choice))
          }}
        />
        {Object.entries(filters).map(([name, value]) => (
          <FilterPill
            key={name}
            label={filterLabels[name as keyof FindingFilters]}
            value={name === 'owner' && value === me?.id ? 'me' : value}
            onRemove={() => setTexts({ [name]: undefined })}
          />
        ))}
        <Text size="sm" c="dimmed" role="status">
          {total === undefined
            ? null
            : `${formatCount(total)}${facets.data?.counts_are_exact === false ? '+' : ''} ${nounOf(total, 'finding')}`}
        </Text>
      </Group>
      <Group mb="sm" style={{ overflowX: 'auto' }} wrap="nowrap">
        <SegmentedControl
          aria-label="State"
          size="xs"
          data={[
            ...findingStates.map((value) => ({ value, label: `${stateWords[value]}${countOf(value)}` })),
            { value: 'all', label: 'All' },
          ]}
          value={query.state ?? 'all'}
          onChange={(state) => setTexts({ state: state === 'open' ? undefined : state })}
        />
      </Group>
    </>
  )
}
