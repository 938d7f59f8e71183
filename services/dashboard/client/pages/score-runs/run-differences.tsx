import { Alert, Box, Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useApi } from '../../api/use-api.ts'
import { absent, formatCount, formatShare } from '../../formats/format-number.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { ChangedReasons } from './changed-reasons.tsx'
import { describeState, inOrder, isUnderWay, type RunDiff, type ScoreRun } from './run-texts.ts'

type ScorerDiff = RunDiff['scorers'][number]
type Example = RunDiff['examples'][number]

/** A run's verdicts against the live ones: how many changed, in which direction, with examples. */
export function RunDifferences({ run }: { run: ScoreRun }) {
  const diff = useApi(
    'GET /api/score-runs/{id}/diff',
    { params: { id: run.id } },
    // Promotion swaps the two sides: an answer from before it would show the changes reversed.
    { state: run.status, ...(isUnderWay(run) ? { pollMs: 15_000 } : {}) },
  )
  const state = describeState(run)
  return (
    <Loaded
      query={diff}
      empty={{ when: ({ scorers }) => scorers.length === 0, show: <Nothing title="No scores yet" /> }}
    >
      {(answer) => (
        <Stack gap="lg">
          {state === undefined ? null : <Alert color="blue" title={state} />}
          {answer.is_complete ? null : (
            <Alert color="blue" title="Only the first 100,000 scores are compared" />
          )}
          <ScorerTable scorers={answer.scorers} run={run} />
          <Text fw={600}>Examples of changed verdicts</Text>
          <ExampleTable examples={answer.examples} run={run} />
        </Stack>
      )}
    </Loaded>
  )
}

function ScorerTable({ scorers, run }: { scorers: readonly ScorerDiff[]; run: ScoreRun }) {
  const columns: Column<ScorerDiff>[] = [
    { title: 'Scorer', cell: ({ scorer_name: name }) => <PlainText text={name} /> },
    { title: 'Compared', isNumber: true, cell: ({ compared }) => formatCount(compared) },
    { title: 'Changed', isNumber: true, cell: ({ changed }) => formatCount(changed) },
    { title: 'Share', isNumber: true, cell: ({ changed, compared }) => formatShare(changed, compared) },
    {
      title: 'Direction',
      cell: ({ changes }) =>
        changes
          .map(({ count, ...labels }) => {
            const [earlier, later] = inOrder(run, labels)
            return `${earlier ?? 'none'} → ${later ?? 'none'}: ${formatCount(count)}`
          })
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

function ExampleTable({ examples, run }: { examples: readonly Example[]; run: ScoreRun }) {
  const [shown, setShown] = useState<Example>()
  const [earlier, later] = run.status === 'promoted' ? ['Before', 'Now'] : ['Live', 'This run']
  const columns: Column<Example>[] = [
    {
      title: 'Request',
      cell: ({ project_id: project, request_id: id }) => (
        <PageLink to="/requests/$id" params={{ id }} search={{ project }}>
          {id}
        </PageLink>
      ),
    },
    { title: 'Said', cell: ({ preview }) => <Said preview={preview} /> },
    { title: 'Scorer', cell: ({ scorer_name: name }) => <PlainText text={name} /> },
    { title: earlier, cell: (example) => inOrder(run, example)[0].label ?? 'none' },
    { title: later, cell: (example) => inOrder(run, example)[1].label ?? 'none' },
    {
      title: 'Reasons',
      cell: (example) => (
        <Button
          size="compact-sm"
          variant="subtle"
          aria-label={`Why ${example.scorer_name} changed on ${example.request_id}`}
          onClick={() => setShown(example)}
        >
          Why
        </Button>
      ),
    },
  ]
  if (examples.length === 0) return <Text size="sm">None.</Text>
  return (
    <>
      <RowsTable
        label="Changed verdicts"
        columns={columns}
        rows={examples}
        keyOf={({ request_id: id, scorer_name: name }) => `${id} ${name}`}
        minWidth={900}
      />
      {shown === undefined ? null : (
        <ChangedReasons example={shown} run={run} onClose={() => setShown(undefined)} />
      )}
    </>
  )
}

/** One line of prompt and answer. */
function Said({ preview }: Pick<Example, 'preview'>) {
  if (preview === null) return absent
  return (
    <Box maw={360}>
      <Text size="sm" truncate>
        <PlainText text={preview.prompt ?? absent} />
      </Text>
      {preview.answer === null ? null : (
        <Text size="xs" c="dimmed" truncate>
          <PlainText text={preview.answer} />
        </Text>
      )}
    </Box>
  )
}
