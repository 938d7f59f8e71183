import { Paper, Progress, Title } from '@mantine/core'
import { useApi } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { formatCount, formatShare } from '../../formats/format-number.ts'
import { rangeTexts, type ChosenRange } from '../../formats/time-range.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { scorerTotalsOf, type ScoreTotal } from './read-stats.ts'

/** Unsafe calls per scorer, most first. */
export function ScorerPanel({ range }: { range: ChosenRange }) {
  const { id: project_id } = useProject()
  const { start, end } = range
  const stats = useApi(
    'GET /api/stats',
    { query: { project_id, start, end, by: 'scorer', step: '28d' } },
    { pollMs: 30_000, keepsPrevious: true },
  )
  return (
    <Paper withBorder p="sm" h="100%">
      <Title order={2} mb="xs">
        Unsafe by scorer
      </Title>
      <Loaded
        query={stats}
        empty={{ when: ({ series }) => series.length === 0, show: <Nothing title="No scores yet" /> }}
      >
        {(answer) => (
          <RowsTable
            label="Unsafe by scorer"
            columns={columnsOf(range)}
            rows={scorerTotalsOf(answer).sort((one, other) => rateOf(other) - rateOf(one))}
            keyOf={({ name }) => name}
            minWidth={420}
          />
        )}
      </Loaded>
    </Paper>
  )
}

function rateOf({ safe, unsafe }: ScoreTotal): number {
  return safe + unsafe === 0 ? 0 : unsafe / (safe + unsafe)
}

function columnsOf(range: ChosenRange): Column<ScoreTotal & { name: string }>[] {
  const toRequests = (name: string, label: string) => ({ ...rangeTexts(range), scorer_name: name, label })
  return [
    {
      title: 'Scorer',
      cell: ({ name }) => (
        <PageLink to="/requests" search={toRequests(name, 'unsafe')}>
          <PlainText text={name} />
        </PageLink>
      ),
    },
    { title: 'Unsafe', isNumber: true, cell: ({ unsafe }) => formatCount(unsafe) },
    {
      title: 'Rate',
      cell: (scorer) => (
        <>
          <Progress size="lg" miw={100} value={rateOf(scorer) * 100} color="red" aria-hidden />
          {formatShare(scorer.unsafe, scorer.safe + scorer.unsafe)}
        </>
      ),
    },
    {
      title: 'Unscored',
      isNumber: true,
      cell: ({ name, unscored, scores }) => (
        <PageLink to="/requests" search={toRequests(name, 'unscored')}>
          {formatShare(unscored, scores)}
        </PageLink>
      ),
    },
  ]
}
