import { Paper, Title } from '@mantine/core'
import { useApi } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { formatCount, formatDuration, formatUsd } from '../../formats/format-number.ts'
import { rangeTexts, type ChosenRange } from '../../formats/time-range.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { callSeriesOf, describeUnsafe, largestOf, type CallSeries } from './read-stats.ts'

interface TopGroupsProps {
  title: string
  by: 'agent' | 'model'
  /** The request filter for one group. */
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
        'Others'
      ) : (
        unnamed
      )
    ) : (
      <PageLink to="/requests" search={{ ...rangeTexts(range), [filter]: name }}>
        <PlainText text={name} />
      </PageLink>
    )
  const columns: Column<CallSeries>[] = [
    { title: 'Name', cell: nameOf },
    { title: 'Calls', isNumber: true, cell: ({ total }) => formatCount(total.calls) },
    { title: 'Unsafe', isNumber: true, cell: ({ total }) => describeUnsafe(total).share },
    { title: 'Cost', isNumber: true, cell: ({ total }) => formatUsd(total.cost_usd) },
    { title: 'p95', isNumber: true, cell: ({ total }) => formatDuration(total.latency_p95_ms) },
  ]
  return (
    <Paper withBorder p="sm">
      <Title order={2} mb="xs">
        {title}
      </Title>
      <Loaded query={stats}>
        {(answer) => (
          <RowsTable
            label={title}
            columns={columns}
            rows={largestOf(callSeriesOf(answer), shown)}
            keyOf={({ name, isOther }) => `${name ?? ''}${isOther}`}
            minWidth={440}
          />
        )}
      </Loaded>
    </Paper>
  )
}
