import { Box, Button, Drawer, Group, ScrollArea, Text } from '@mantine/core'
import { useDisclosure, useLocalStorage } from '@mantine/hooks'
import { IconArrowUp, IconFilter } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import type { ColumnVisibilityState } from '@tanstack/react-table'
import { useCallback, useMemo } from 'react'
import { rowsOf, useApiPages } from '../../api/use-api.ts'
import { useMe } from '../../api/session.ts'
import { useTexts } from '../../app/address.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { useProject } from '../../app/project.ts'
import { useSteadyRange } from '../../app/use-range.ts'
import { formatCount, nounOf } from '../../formats/format-number.ts'
import { rangeTexts } from '../../formats/time-range.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Failure, NoAnswerYet, Nothing } from '../../parts/page-states.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { FacetPanel, useFacets } from './facet-panel.tsx'
import { FilterBar } from './filter-bar.tsx'
import { FilterPills, UnknownParameters } from './filter-pills.tsx'
import { withArrived, type RequestItem } from './merge-scores.ts'
import { readAddress } from './read-address.ts'
import { queryOfFilters } from './read-filters.ts'
import { initiallyHidden } from './request-columns.tsx'
import { RequestTable } from './request-table.tsx'
import { SavedViews } from './saved-views.tsx'
import { ColumnMenu, ExportMenu } from './table-menus.tsx'
import { useArrivedScores, useNewRequests } from './use-arriving.ts'

/** Calls, newest first: filtered, live, with keyboard navigation. */
export function RequestsPage() {
  const { id: project_id } = useProject()
  const role = useMe().data?.role ?? 'viewer'
  const { range, renew } = useSteadyRange('24h')
  const { filters, unknown } = readAddress(useTexts())
  const query = { project_id, start: range.start, end: range.end, ...queryOfFilters(filters) }
  const [chosen, setVisibility] = useLocalStorage<ColumnVisibilityState>({
    key: 'sluice.request-columns',
    defaultValue: initiallyHidden,
  })
  // A column added after a person chose columns keeps its default.
  const visibility = { ...initiallyHidden, ...chosen, of_scorer: filters['scorer_name'] !== undefined }
  const [isDrawn, { open, close }] = useDisclosure()
  const known = useFacets({ range, filters })
  const facets = <FacetPanel range={range} filters={filters} />
  return (
    <>
      <PageHead title="Requests">
        <Button
          variant="default"
          hiddenFrom="md"
          leftSection={<IconFilter size={16} aria-hidden />}
          onClick={open}
        >
          Filters
        </Button>
        <SavedViews filters={filters} />
        <ColumnMenu visibility={visibility} setVisibility={setVisibility} />
        {mayVisit(role, { role: 'analyst' }) ? (
          <PageLink to="/search" search={{ ...filters, ...rangeTexts(range) }} size="sm">
            Search texts
          </PageLink>
        ) : null}
        {mayVisit(role, { role: 'analyst' }) ? <ExportMenu query={query} /> : null}
        <RangePicker range={range} />
      </PageHead>
      <Group align="flex-start" wrap="nowrap" gap="lg">
        <Box visibleFrom="md" w={210} flex="none">
          <ScrollArea h="calc(100dvh - 110px)" type="auto" offsetScrollbars>
            {facets}
          </ScrollArea>
        </Box>
        <Box flex={1} miw={0}>
          <UnknownParameters names={unknown} />
          <FilterBar filters={filters} facets={known.data} />
          <RequestList query={query} filters={filters} visibility={visibility} renew={renew} />
        </Box>
      </Group>
      <Drawer opened={isDrawn} onClose={close} title="Filters" closeButtonProps={{ 'aria-label': 'Close' }}>
        {isDrawn ? facets : null}
      </Drawer>
    </>
  )
}

interface RequestListProps {
  query: Record<string, string | undefined>
  filters: Readonly<Record<string, string>>
  visibility: ColumnVisibilityState
  /** Lets the range end now again. */
  renew: () => void
}

function RequestList({ query, filters, visibility, renew }: RequestListProps) {
  const client = useQueryClient()
  const pages = useApiPages('GET /api/requests', { query })
  const { data, fetchNextPage } = pages
  const rows = useMemo(() => rowsOf<'GET /api/requests'>(data), [data])
  const shown = useShownRows(query, rows)
  const arriving = useNewRequests(
    query,
    rows,
    pages.isSuccess && !pages.isPlaceholderData && query['end'] === undefined,
  )
  const loadMore = useCallback(() => void fetchNextPage(), [fetchNextPage])
  const first = data?.pages[0]

  return (
    <>
      <Group justify="space-between" my="xs" mih={30}>
        <FilterPills filters={filters} />
        <Text size="sm" c="dimmed" role="status">
          {first === undefined ? null : totalOf(first)}
        </Text>
      </Group>
      {data === undefined ? <NoAnswerYet query={pages} /> : null}
      {pages.isFetchNextPageError ? <Failure error={pages.error} retry={fetchNextPage} /> : null}
      {arriving.count === 0 ? null : (
        <Button
          fullWidth
          size="compact-sm"
          variant="light"
          mb="xs"
          leftSection={<IconArrowUp size={14} aria-hidden />}
          onClick={() => {
            renew()
            void client.resetQueries({ queryKey: ['GET /api/requests', { query }, 'pages'] })
          }}
        >
          {arriving.isMore ? `${arriving.count} or more` : arriving.count} new
        </Button>
      )}
      {data !== undefined && shown.length === 0 ? (
        <Nothing title="No matching requests">
          {Object.keys(filters).length === 0
            ? 'No calls were recorded in this range.'
            : 'Remove a filter, or extend the range.'}
        </Nothing>
      ) : null}
      {shown.length === 0 ? null : (
        <RequestTable
          // A changed filter starts at the top.
          key={JSON.stringify(query)}
          rows={shown}
          visibility={visibility}
          hasMore={pages.hasNextPage}
          isLoadingMore={pages.isFetchingNextPage}
          loadMore={loadMore}
        />
      )}
    </>
  )
}

/** The rows with their latest scores. */
function useShownRows(query: RequestListProps['query'], rows: readonly RequestItem[]): RequestItem[] {
  const arrived = useArrivedScores(query['project_id'] ?? '', rows)
  const scorer = query['scorer_name']
  return useMemo(
    () => rows.map((row) => withArrived(row, arrived.get(row.id), scorer)),
    [rows, arrived, scorer],
  )
}

function totalOf({ total, total_is_exact }: { total: number; total_is_exact?: false | undefined }): string {
  return `${formatCount(total)}${total_is_exact === false ? '+' : ''} ${nounOf(total, 'request')}`
}
