import { Badge, Button, Progress, Stack } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useApiPages } from '../../api/use-api.ts'
import { formatCount, formatShare } from '../../formats/format-number.ts'
import { LoadedPages } from '../../parts/loaded-pages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Nothing } from '../../parts/page-states.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { usePersisted } from '../../parts/use-draft.ts'
import { isUnderWay, runColors, type ScoreRun } from './run-texts.ts'
import { StartRun } from './start-run.tsx'

/** Score runs over history, beside the live run. */
export function ScoreRunsPage() {
  const [isStarting, setIsStarting] = usePersisted<true>('score-run')
  const runs = useApiPages('GET /api/score-runs', { query: { page_size: '50' } }, { pollsWhile: isUnderWay })
  return (
    <>
      <PageHead title="Score runs">
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsStarting(true)}>
          Score again
        </Button>
      </PageHead>
      {isStarting ? <StartRun onClose={() => setIsStarting(undefined)} /> : null}
      <LoadedPages<'GET /api/score-runs'>
        query={runs}
        empty={
          <Nothing title="No score runs yet">
            A run scores stored calls again; its verdicts stay beside the live ones until it is promoted.
          </Nothing>
        }
      >
        {(rows) => <RunTable runs={rows} />}
      </LoadedPages>
    </>
  )
}

function RunTable({ runs }: { runs: readonly ScoreRun[] }) {
  const columns: Column<ScoreRun>[] = [
    {
      title: 'Started',
      cell: ({ id, created_at: at }) => (
        <PageLink to="/score-runs/$id" params={{ id }}>
          <TimeText at={at} />
        </PageLink>
      ),
    },
    {
      title: 'Calls of',
      cell: ({ start, end }) => (
        <>
          <TimeText at={start} /> – <TimeText at={end} />
        </>
      ),
    },
    { title: 'Scorers', cell: ({ scorers }) => scorers?.join(', ') ?? 'All' },
    {
      title: 'Status',
      cell: ({ status }) => (
        <Badge variant="light" color={runColors[status]}>
          {status}
        </Badge>
      ),
    },
    { title: 'Progress', cell: (run) => <RunProgress run={run} /> },
  ]
  return <RowsTable label="Score runs" columns={columns} rows={runs} keyOf={({ id }) => id} minWidth={760} />
}

/** How many of its calls have new scores. */
export function RunProgress({ run: { calls_scored: scored, calls_total: total } }: { run: ScoreRun }) {
  return (
    <Stack gap={2} miw={140}>
      <Progress value={total === 0 ? 0 : (100 * scored) / total} aria-label="Calls scored" />
      {formatCount(scored)} of {formatCount(total)} ({formatShare(scored, total)})
    </Stack>
  )
}
