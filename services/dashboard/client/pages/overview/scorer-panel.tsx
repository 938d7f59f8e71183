import { Paper, Progress, Table, Title } from '@mantine/core'
import { useApi } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { formatCount, formatShare } from '../../formats/format-number.ts'
import { rangeTexts, type ChosenRange } from '../../formats/time-range.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { scorerTotalsOf, type ScoreTotal } from './read-stats.ts'

/** How much each scorer found unsafe, the most first. */
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
          <Table.ScrollContainer minWidth={420}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Scorer</Table.Th>
                  <Table.Th ta="right">Unsafe</Table.Th>
                  <Table.Th w="35%">Rate</Table.Th>
                  <Table.Th ta="right">Unscored</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {scorerTotalsOf(answer)
                  .sort((one, other) => rateOf(other) - rateOf(one))
                  .map((scorer) => (
                    <ScorerRow key={scorer.name} scorer={scorer} range={range} />
                  ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
      </Loaded>
    </Paper>
  )
}

function rateOf({ safe, unsafe }: ScoreTotal): number {
  return safe + unsafe === 0 ? 0 : unsafe / (safe + unsafe)
}

function ScorerRow({ scorer, range }: { scorer: ScoreTotal & { name: string }; range: ChosenRange }) {
  const rate = formatShare(scorer.unsafe, scorer.safe + scorer.unsafe)
  const toRequests = { ...rangeTexts(range), scorer_name: scorer.name }
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to="/requests" search={{ ...toRequests, label: 'unsafe' }}>
          <PlainText text={scorer.name} />
        </PageLink>
      </Table.Td>
      <Table.Td ta="right">{formatCount(scorer.unsafe)}</Table.Td>
      <Table.Td>
        <Progress.Root size="lg" aria-hidden>
          <Progress.Section value={rateOf(scorer) * 100} color="red" />
        </Progress.Root>
        {rate}
      </Table.Td>
      <Table.Td ta="right">
        <PageLink to="/requests" search={{ ...toRequests, label: 'unscored' }}>
          {formatShare(scorer.unscored, scorer.scores)}
        </PageLink>
      </Table.Td>
    </Table.Tr>
  )
}
