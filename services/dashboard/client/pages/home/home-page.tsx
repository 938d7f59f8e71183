import { Grid, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useApi } from '../../api/use-api.ts'
import { JudgeNotice } from '../../app/judge-notice.tsx'
import { useProject } from '../../app/project.ts'
import { useRange } from '../../app/use-range.ts'
import { formatCounted } from '../../formats/format-time.ts'
import type { ChosenRange } from '../../formats/time-range.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { Failure, Nothing, useFailure } from '../../parts/page-states.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { WhenSeen } from '../../parts/when-seen.tsx'
import { AllProjects } from './all-projects.tsx'
import { CallCharts } from './call-charts.tsx'
import { FirstCall, useFirstCall } from './first-call.tsx'
import { NewestFindings } from './newest-findings.tsx'
import { OpenFindings } from './open-findings.tsx'
import { QuotaTile } from './quota-tile.tsx'
import type { Stats } from './read-stats.ts'
import { ScorerPanel } from './scorer-panel.tsx'
import { Signs } from './signs.tsx'
import { CallTiles } from './stat-tiles.tsx'
import { TopGroups } from './top-groups.tsx'

const pollMs = 30_000

/** Is anything wrong? Safety first, then what happened in the range. */
export function HomePage() {
  const { id: project_id } = useProject()
  const range = useRange('24h')
  const { start, end } = range
  const stats = useApi(
    'GET /api/stats',
    { query: { project_id, start, end } },
    { pollMs, keepsPrevious: true },
  )
  const { data } = stats
  const status = useApi('GET /api/status', { query: { project_id } }, { pollMs, keepsPrevious: true })
  const isEmpty = data?.series.length === 0
  const first = useFirstCall(project_id, isEmpty)
  return (
    <>
      <PageHead title="Home">
        {data === undefined ? null : (
          <Text size="sm" c="dimmed">
            {formatCounted(data, end === undefined)}
          </Text>
        )}
        <RangePicker range={range} />
      </PageHead>
      <JudgeNotice />
      <Stack gap="lg">
        {first.isShown ? <FirstCall {...first} /> : null}
        <Signs status={status} stats={data} range={range} />
        {first.isShown ? null : (
          <Grid gap="lg">
            <Grid.Col span={{ base: 12, lg: 5 }}>
              <OpenFindings findings={status.data?.findings} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, lg: 7 }}>
              <NewestFindings />
            </Grid.Col>
          </Grid>
        )}
      </Stack>
      <AllProjects />
      <Traffic stats={stats} isEmpty={isEmpty && !first.isShown} range={range} />
    </>
  )
}

interface TrafficProps {
  stats: Parameters<typeof useFailure>[0] & { data: Stats | undefined; refetch: () => unknown }
  /** No calls in the range. */
  isEmpty: boolean
  range: ChosenRange
}

/** What happened in the range, from roll-ups. The parts load in parallel. */
function Traffic({ stats, isEmpty, range }: TrafficProps) {
  const { data } = stats
  const failure = useFailure(stats)
  if (data === undefined && failure !== null) return <Failure error={failure} retry={stats.refetch} />
  if (isEmpty)
    return (
      <Nothing title="No calls in this range">
        Calls appear here seconds after they pass the gateway or are logged by an SDK.
      </Nothing>
    )
  if (data?.series.length === 0) return null
  return (
    <Stack gap="lg" mt="xl">
      <Title order={2}>Traffic</Title>
      <SimpleGrid cols={{ base: 2, sm: 4, xl: 7 }} spacing="sm">
        {data === undefined ? <Skeleton height={100} /> : <CallTiles stats={data} />}
        <QuotaTile />
      </SimpleGrid>
      {data === undefined ? (
        <Skeleton height={520} />
      ) : (
        <WhenSeen height={520}>
          <CallCharts stats={data} />
        </WhenSeen>
      )}
      <ScorerPanel range={range} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <TopGroups title="Top agents" by="agent" filter="agent_name" unnamed="No agent" range={range} />
        <TopGroups title="Top models" by="model" filter="model" unnamed="Unknown" range={range} />
      </SimpleGrid>
    </Stack>
  )
}
