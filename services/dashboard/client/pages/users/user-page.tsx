import { Group, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core'
import { rowsIn } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { usePathText, useSetTexts, useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { useRange } from '../../app/use-range.ts'
import {
  formatCount,
  formatDuration,
  formatShare,
  formatShort,
  formatUsd,
} from '../../formats/format-number.ts'
import { formatCounted, formatMoment } from '../../formats/format-time.ts'
import { rangeTexts, type ChosenRange } from '../../formats/time-range.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { StatTile } from '../../parts/stat-tile.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { CostChart } from '../costs/cost-chart.tsx'
import {
  describeUnpriced,
  metrics,
  nameOfGroup,
  readMetric,
  type Costs,
  type Group as CostGroup,
} from '../costs/read-costs.ts'
import { UserFindings } from './user-findings.tsx'

/** One end user: calls and cost over time, models, open findings. */
export function UserPage() {
  const user_id = usePathText('id')
  const { id: project_id } = useProject()
  const range = useRange('30d')
  const { start, end } = range
  const costs = useApi(
    'GET /api/costs',
    { query: { project_id, user_id, by: 'model', order: 'calls', start, end } },
    { pollMs: 60_000, keepsPrevious: true },
  )
  const ofUser = { user_id, ...rangeTexts(range) }
  return (
    <>
      <PageHead title={`User ${user_id}`} heading={<PlainText text={user_id} />}>
        {costs.data === undefined ? null : (
          <Text size="sm" c="dimmed">
            {formatCounted(costs.data, end === undefined)}
          </Text>
        )}
        <RangePicker range={range} />
      </PageHead>
      <Group mb="md">
        <PageLink to="/requests" search={ofUser}>
          Requests
        </PageLink>
        <PageLink to="/sessions" search={ofUser}>
          Sessions
        </PageLink>
      </Group>
      <Stack gap="lg">
        <UserFindings userId={user_id} />
        <Loaded
          query={costs}
          empty={{
            when: ({ groups }) => groups.length === 0,
            show: <Nothing title="No calls of this user in this range" />,
          }}
        >
          {(answer) => <Report costs={answer} userId={user_id} range={range} />}
        </Loaded>
      </Stack>
    </>
  )
}

interface ReportProps {
  costs: Costs
  userId: string
  range: ChosenRange
}

const shown = ['calls', 'cost', 'tokens', 'unsafe', 'latency'] as const

function Report({ costs, userId, range }: ReportProps) {
  const setTexts = useSetTexts()
  const { show = 'calls' } = useTexts()
  const metric = readMetric(show)
  return (
    <>
      <UserTiles costs={costs} userId={userId} range={range} />
      {costs.counted_from === null ? null : (
        <Text size="sm" c="dimmed">
          Of the newest 100,000 calls, since {formatMoment(costs.counted_from)}.
        </Text>
      )}
      <CostChart costs={costs} metric={metric} by="model" projectName={(id) => id}>
        <SegmentedControl
          aria-label="Show"
          size="xs"
          data={shown.map((value) => ({ value, label: metrics[value].label }))}
          value={metric}
          onChange={(value) => setTexts({ show: value })}
        />
      </CostChart>
      <ModelTable costs={costs} userId={userId} range={range} />
    </>
  )
}

/** Sums of the calls; sessions and the last call are of the counts by user. */
function UserTiles({ costs: { total }, userId, range: { start, end } }: ReportProps) {
  const { id: project_id } = useProject()
  const users = useApi(
    'GET /api/users',
    { query: { project_id, user_id: userId, start, end, page_size: '1' } },
    { pollMs: 60_000, keepsPrevious: true },
  )
  const [user] = users.data === undefined ? [] : rowsIn<'GET /api/users'>(users.data)
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      <StatTile
        label="Calls"
        detail={
          user === undefined ? null : (
            <>
              last <TimeText at={user.last_seen_at} isAgo />
            </>
          )
        }
      >
        {formatShort(total.calls)}
      </StatTile>
      <StatTile label="Unsafe" detail={`${formatShare(total.unsafe, total.calls)} of calls`}>
        {formatCount(total.unsafe)}
      </StatTile>
      <StatTile label="Failed" detail={`${formatShare(total.failed, total.calls)} of calls`}>
        {formatCount(total.failed)}
      </StatTile>
      <StatTile label="Cost" detail={describeUnpriced(total)}>
        {formatUsd(total.cost_usd)}
      </StatTile>
      <StatTile label="Tokens">{formatShort(total.tokens)}</StatTile>
      <StatTile label="Latency (p95)" detail={`${formatDuration(total.latency_p50_ms)} median`}>
        {formatDuration(total.latency_p95_ms)}
      </StatTile>
    </SimpleGrid>
  )
}

function ModelTable({ costs: { by, groups }, userId: user_id, range }: ReportProps) {
  const columns: Column<CostGroup>[] = [
    {
      title: 'Model',
      cell: (group) => (
        <PageLink
          to="/requests"
          search={{ user_id, model: group.values[0] ?? undefined, ...rangeTexts(range) }}
        >
          <PlainText text={nameOfGroup(group, by, (id) => id)} />
        </PageLink>
      ),
    },
    { title: 'Calls', isNumber: true, cell: ({ calls }) => formatCount(calls) },
    { title: 'Unsafe', isNumber: true, cell: ({ unsafe, calls }) => formatShare(unsafe, calls) },
    { title: 'Failed', isNumber: true, cell: ({ failed, calls }) => formatShare(failed, calls) },
    { title: 'Tokens', isNumber: true, cell: ({ tokens }) => formatShort(tokens) },
    { title: 'Cost', isNumber: true, cell: ({ cost_usd: usd }) => formatUsd(usd) },
    { title: 'p95', isNumber: true, cell: ({ latency_p95_ms: ms }) => formatDuration(ms) },
  ]
  return (
    <RowsTable
      label="Models"
      columns={columns}
      rows={groups}
      keyOf={({ values, is_other }) => JSON.stringify([is_other, values])}
    />
  )
}
