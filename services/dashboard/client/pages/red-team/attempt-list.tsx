import { SegmentedControl, Stack, Text } from '@mantine/core'
import { useApi } from '../../api/use-api.ts'
import { useSetTexts, useTexts } from '../../app/address.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import { isUnderWay, transformationNames, type Attempt, type RedTeamRun } from './red-team-texts.ts'

const verdicts = [
  { value: 'fail', label: 'Got through' },
  { value: 'unscored', label: 'Not judged' },
  { value: 'pass', label: 'Held' },
] as const
const shownAtMost = 200

/** A run's attacks by verdict; each links to the recorded call. */
export function AttemptList({ run }: { run: RedTeamRun }) {
  const { verdict: wanted } = useTexts()
  const setTexts = useSetTexts()
  const verdict = verdicts.find(({ value }) => value === wanted)?.value ?? 'fail'
  const attempts = useApi(
    'GET /api/redteam-runs/{id}/attempts',
    { params: { id: run.id }, query: { verdict, limit: String(shownAtMost) } },
    isUnderWay(run) ? { pollMs: 5_000, keepsPrevious: true } : { keepsPrevious: true },
  )
  return (
    <Stack>
      <SegmentedControl
        aria-label="Verdict"
        style={{ alignSelf: 'flex-start' }}
        data={[...verdicts]}
        value={verdict}
        onChange={(value) => setTexts({ verdict: value })}
      />
      <Loaded
        query={attempts}
        empty={{ when: ({ items }) => items.length === 0, show: <Nothing title="None" /> }}
      >
        {({ items, next_after: next }) => (
          <>
            <RowsTable
              label="Attacks"
              columns={columnsOf(run)}
              rows={items}
              keyOf={({ number }) => String(number)}
              minWidth={760}
            />
            {next === null ? null : (
              <Text size="sm" c="dimmed">
                The first {shownAtMost}; the report has all.
              </Text>
            )}
          </>
        )}
      </Loaded>
    </Stack>
  )
}

function columnsOf(run: RedTeamRun): Column<Attempt>[] {
  return [
    {
      title: 'Probe',
      cell: ({ probe_id: probe, request_id: last, found_in: found }) => (
        <PageLink to="/requests/$id" params={{ id: found ?? last }} search={{ project: run.project_id }}>
          <PlainText text={probe} />
        </PageLink>
      ),
    },
    { title: 'Category', cell: ({ category }) => category },
    { title: 'Sent', cell: ({ transformation }) => transformationNames[transformation] },
    {
      title: 'Severity',
      cell: ({ severity }) =>
        severity === null ? null : <VerdictBadge label="unsafe" severity={severity} />,
    },
    { title: 'Found by', cell: ({ failed_by: by }) => by?.join(', ') },
    { title: 'Why', cell: ({ reason }) => (reason === null ? null : <PlainText text={reason} />) },
  ]
}
