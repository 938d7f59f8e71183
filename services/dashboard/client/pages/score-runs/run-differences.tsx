import { Alert, Stack, Text } from '@mantine/core'
import { useApi } from '../../api/use-api.ts'
import { formatCount, formatShare } from '../../formats/format-number.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import type { RunDiff } from './run-texts.ts'

type ScorerDiff = RunDiff['scorers'][number]
type Example = RunDiff['examples'][number]

/** A run's verdicts against those that stand: how many changed, which way, and some of them. */
export function RunDifferences({ id, isUnderWay }: { id: string; isUnderWay: boolean }) {
  const diff = useApi(
    'GET /api/score-runs/{id}/diff',
    { params: { id } },
    isUnderWay ? { pollMs: 15_000 } : {},
  )
  return (
    <Loaded
      query={diff}
      empty={{ when: ({ scorers }) => scorers.length === 0, show: <Nothing title="Nothing is scored yet" /> }}
    >
      {(answer) => (
        <Stack gap="lg">
          {answer.is_complete ? null : (
            <Alert color="blue" title="Not every call is scored yet: these are the first" />
          )}
          <ScorerTable scorers={answer.scorers} />
          <Text fw={600}>Verdicts that changed, for instance</Text>
          <ExampleTable examples={answer.examples} />
        </Stack>
      )}
    </Loaded>
  )
}

function ScorerTable({ scorers }: { scorers: readonly ScorerDiff[] }) {
  const columns: Column<ScorerDiff>[] = [
    { title: 'Scorer', cell: ({ scorer_name: name }) => <PlainText text={name} /> },
    { title: 'Compared', isNumber: true, cell: ({ compared }) => formatCount(compared) },
    { title: 'Changed', isNumber: true, cell: ({ changed }) => formatCount(changed) },
    { title: 'Share', isNumber: true, cell: ({ changed, compared }) => formatShare(changed, compared) },
    {
      title: 'Which way',
      cell: ({ changes }) =>
        changes
          .map(({ before, after, count }) => `${before ?? 'none'} → ${after}: ${formatCount(count)}`)
          .join(', '),
    },
  ]
  return (
    <RowsTable
      label="Changes by scorer"
      columns={columns}
      rows={scorers}
      keyOf={({ scorer_name: name }) => name}
    />
  )
}

function ExampleTable({ examples }: { examples: readonly Example[] }) {
  const columns: Column<Example>[] = [
    {
      title: 'Request',
      cell: ({ project_id: project, request_id: id }) => (
        <PageLink to="/requests/$id" params={{ id }} search={{ project }}>
          {id}
        </PageLink>
      ),
    },
    { title: 'Scorer', cell: ({ scorer_name: name }) => <PlainText text={name} /> },
    { title: 'Stands', cell: ({ before }) => before.label ?? 'none' },
    { title: 'This run says', cell: ({ after }) => after.label },
  ]
  if (examples.length === 0) return <Text size="sm">None.</Text>
  return (
    <RowsTable
      label="Changed verdicts"
      columns={columns}
      rows={examples}
      keyOf={({ request_id: id, scorer_name: name }) => `${id} ${name}`}
    />
  )
}
