import { Paper, Table, Title } from '@mantine/core'
import { useApi } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { formatCount, formatDuration, formatUsd } from '../../formats/format-number.ts'
import { rangeTexts, type ChosenRange } from '../../formats/time-range.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { callSeriesOf, describeUnsafe, largestOf, type CallSeries } from './read-stats.ts'

interface TopGroupsProps {
  title: string
  by: 'agent' | 'model'
  /** The filter of requests by which one of them is seen. */
  filter: 'agent_name' | 'model'
  unnamed: string
  range: ChosenRange
}

const shown = 8

/** The agents or models with the most calls. */
export function TopGroups({ title, by, filter, unnamed, range }: TopGroupsProps) {
  const { id: project_id } = useProject()
  const { start, end } = range
  const stats = useApi(
    'GET /api/stats',
    { query: { project_id, start, end, by, step: '28d' } },
    { pollMs: 60_000, keepsPrevious: true },
  )
  const nameOf = ({ name, isOther }: CallSeries) =>
    name === null ? (
      isOther ? (
        'All others'
      ) : (
        unnamed
      )
    ) : (
      <PageLink to="/requests" search={{ ...rangeTexts(range), [filter]: name }}>
        <PlainText text={name} />
      </PageLink>
    )
  return (
    <Paper withBorder p="sm">
      <Title order={2} mb="xs">
        {title}
      </Title>
      <Loaded query={stats}>
        {(answer) => (
          <Table.ScrollContainer minWidth={440}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Name</Table.Th>
                  <Table.Th ta="right">Calls</Table.Th>
                  <Table.Th ta="right">Unsafe</Table.Th>
                  <Table.Th ta="right">Cost</Table.Th>
                  <Table.Th ta="right">p95</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {largestOf(callSeriesOf(answer), shown).map((series) => (
                  <Table.Tr key={`${series.name ?? ''}${series.isOther}`}>
                    <Table.Td>{nameOf(series)}</Table.Td>
                    <Table.Td ta="right">{formatCount(series.total.calls)}</Table.Td>
                    <Table.Td ta="right">{describeUnsafe(series.total).share}</Table.Td>
                    <Table.Td ta="right">{formatUsd(series.total.cost_usd)}</Table.Td>
                    <Table.Td ta="right">{formatDuration(series.total.latency_p95_ms)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
      </Loaded>
    </Paper>
  )
}
