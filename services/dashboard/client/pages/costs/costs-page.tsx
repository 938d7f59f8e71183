import { Alert, SimpleGrid, Stack, Text } from '@mantine/core'
import { metadataPrefix } from '#schemas/metadata-filter.ts'
import { addressOf } from '../../api/call-api.ts'
import { useMe } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { useRange } from '../../app/use-range.ts'
import { monthBefore } from '../../formats/calendar-months.ts'
import { formatCounted, formatMoment } from '../../formats/format-time.ts'
import { formatDuration, formatShare, formatShort, formatShortUsd } from '../../formats/format-number.ts'
import type { ChosenRange } from '../../formats/time-range.ts'
import { DownloadButton } from '../../parts/download-button.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { StatTile } from '../../parts/stat-tile.tsx'
import { CostChart } from './cost-chart.tsx'
import { CostControls, MonthButtons } from './cost-controls.tsx'
import { CostTable } from './cost-table.tsx'
import {
  describeBefore,
  describeUnpriced,
  labelOfDimension,
  metrics,
  readMetric,
  type Costs,
  type Metric,
} from './read-costs.ts'

/** What calls cost, by what they have in common, beside the period before. */
export function CostsPage() {
  const project = useProject()
  const me = useMe().data
  const range = useRange('30d')
  const texts = useTexts()
  const ofEvery = texts['all'] === 'true'
  const keys = useApi('GET /api/metadata-keys', { query: { project_id: project.id } })
  const declared = (keys.data?.keys ?? []).map(({ name }) => name)
  // Who declares a key wants to know what its values cost.
  const own = declared[0] === undefined ? 'model' : `${metadataPrefix}${declared[0]}`
  const by = texts['by'] ?? (ofEvery ? 'project' : own)
  const metric = readMetric(texts['show'])
  const query = {
    ...(ofEvery ? {} : { project_id: project.id }),
    start: range.start,
    end: range.end,
    previous_start: monthBefore(range.start, range.end),
    by,
    order: metrics[metric].order,
  }
  const isReady = keys.isFetched || texts['by'] !== undefined || ofEvery
  const costs = useApi('GET /api/costs', { query }, { pollMs: 60_000, keepsPrevious: true, enabled: isReady })
  const projectName = (id: string) => project.all.find((each) => each.id === id)?.name ?? id
  return (
    <>
      <PageHead title="Cost">
        {costs.data === undefined ? null : (
          <Text size="sm" c="dimmed">
            {formatCounted(costs.data, range.end === undefined)}
          </Text>
        )}
        <MonthButtons />
        <RangePicker range={range} />
        <DownloadButton address={addressOf('GET /api/costs/export', { query })} name="costs.csv">
          CSV
        </DownloadButton>
      </PageHead>
      <CostControls
        by={by.split(',')}
        metric={metric}
        keys={declared}
        ofEvery={ofEvery}
        maySeeEvery={me?.role === 'admin' && project.count > 1}
      />
      <Loaded
        query={costs}
        empty={{
          when: ({ groups }) => groups.length === 0,
          show: <Nothing title="No calls in this range" />,
        }}
      >
        {(answer) => <Report costs={answer} range={range} metric={metric} projectName={projectName} />}
      </Loaded>
    </>
  )
}

interface ReportProps {
  costs: Costs
  range: ChosenRange
  metric: Metric
  projectName: (id: string) => string
}

function Report({ costs, range, metric, projectName }: ReportProps) {
  return (
    <Stack gap="lg">
      <Notes costs={costs} />
      <CostTiles costs={costs} />
      <CostChart
        costs={costs}
        metric={metric}
        by={costs.by.map((name) => labelOfDimension(name).toLowerCase()).join(' and ')}
        projectName={projectName}
      />
      <CostTable costs={costs} range={range} projectName={projectName} />
    </Stack>
  )
}

/** What the numbers leave out. */
function Notes({ costs: { counted_from, named_from, by, start } }: { costs: Costs }) {
  if (counted_from !== null)
    return (
      <Alert color="yellow" title="Only the newest 100,000 calls">
        Calls are not counted by {by.map(labelOfDimension).join(' and ')} when they arrive. These numbers are
        of the calls since {formatMoment(counted_from)} and are compared with nothing. A shorter range is read
        whole; an administrator can have a metadata key counted in the project settings.
      </Alert>
    )
  if (named_from === null || named_from <= start) return null
  return (
    <Text size="sm" c="dimmed">
      {by.map(labelOfDimension).join()} is counted since {formatMoment(named_from)}; earlier calls are under
      “No {by.map(labelOfDimension).join().toLowerCase()}”.
    </Text>
  )
}

function CostTiles({ costs: { total, previous } }: { costs: Costs }) {
  const before = (name: 'cost_usd' | 'calls' | 'tokens', format: (value: number) => string) =>
    previous === null ? 'not compared' : `before: ${describeBefore(total[name], previous[name], format)}`
  const share = (name: 'failed' | 'unsafe') =>
    previous === null ? 'not compared' : `before: ${formatShare(previous[name], previous.calls)}`
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      <StatTile label="Cost" detail={before('cost_usd', formatShortUsd)}>
        {formatShortUsd(total.cost_usd)}
        <Text size="xs" c="dimmed">
          {describeUnpriced(total)}
        </Text>
      </StatTile>
      <StatTile label="Calls" detail={before('calls', formatShort)}>
        {formatShort(total.calls)}
      </StatTile>
      <StatTile label="Tokens" detail={before('tokens', formatShort)}>
        {formatShort(total.tokens)}
      </StatTile>
      <StatTile label="Failed" detail={share('failed')}>
        {formatShare(total.failed, total.calls)}
      </StatTile>
      <StatTile label="Unsafe" detail={share('unsafe')}>
        {formatShare(total.unsafe, total.calls)}
      </StatTile>
      <StatTile label="Latency (p95)" detail={`${formatDuration(total.latency_p50_ms)} median`}>
        {formatDuration(total.latency_p95_ms)}
      </StatTile>
    </SimpleGrid>
  )
}
