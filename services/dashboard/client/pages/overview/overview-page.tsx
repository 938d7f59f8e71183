import { Grid, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { useApi } from '../../api/use-api.ts'
import { JudgeNotice } from '../../app/judge-notice.tsx'
import { useProject } from '../../app/project.ts'
import { useRange } from '../../app/use-range.ts'
import { formatCounted } from '../../formats/format-time.ts'
import type { ChosenRange } from '../../formats/time-range.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { Failure, Nothing, useFailure } from '../../parts/page-states.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { CallCharts } from './call-charts.tsx'
import { NewestThreats } from './newest-threats.tsx'
import { OpenFindings } from './open-findings.tsx'
import { QuotaTile } from './quota-tile.tsx'
import type { Stats } from './read-stats.ts'
import { ScorerPanel } from './scorer-panel.tsx'
import { CallTiles } from './stat-tiles.tsx'
import { TopGroups } from './top-groups.tsx'

const pollMs = 30_000

/** What happened in a range, and where to look. From roll-ups, except the newest threats. */
export function OverviewPage() {
  const { id: project_id } = useProject()
  const range = useRange('24h')
  const { start, end } = range
  const stats = useApi(
    'GET /api/stats',
    { query: { project_id, start, end } },
    { pollMs, keepsPrevious: true },
  )
  const { data } = stats
  const failure = useFailure(stats)
  return (
    <>
      <PageHead title="Overview">
        {data === undefined ? null : (
          <Text size="sm" c="dimmed">
            {formatCounted(data, end === undefined)}
          </Text>
        )}
        <RangePicker range={range} />
      </PageHead>
      <JudgeNotice />
      <OpenFindings />
      {data === undefined && failure !== null ? (
        <Failure error={failure} retry={stats.refetch} />
      ) : data?.series.length === 0 ? (
        <Nothing title="No calls in this range">
          Calls appear here seconds after they pass the gateway or are logged by an SDK.
        </Nothing>
      ) : (
        <Report stats={data} range={range} />
      )}
    </>
  )
}

/** The parts of the page, which load in parallel. */
function Report({ stats, range }: { stats: Stats | undefined; range: ChosenRange }) {
  return (
    <Stack gap="lg">
      <SimpleGrid cols={{ base: 2, sm: 4, xl: 7 }} spacing="sm">
        {stats === undefined ? <Skeleton height={100} /> : <CallTiles stats={stats} />}
        <QuotaTile />
      </SimpleGrid>
      {stats === undefined ? <Skeleton height={520} /> : <CallCharts stats={stats} />}
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <ScorerPanel range={range} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <NewestThreats range={range} />
        </Grid.Col>
      </Grid>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <TopGroups title="Top agents" by="agent" filter="agent_name" unnamed="No agent" range={range} />
        <TopGroups title="Top models" by="model" filter="model" unnamed="Unknown" range={range} />
      </SimpleGrid>
    </Stack>
  )
}
