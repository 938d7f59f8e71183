import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { usePathText } from '../../app/address.ts'
import { confirmAction } from '../../parts/confirm-action.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { RunDifferences } from './run-differences.tsx'
import { isUnderWay, runColors, type ScoreRun } from './run-texts.ts'
import { RunProgress } from './score-runs-page.tsx'

const reads = ['GET /api/score-runs', 'GET /api/score-runs/{id}', 'GET /api/score-runs/{id}/diff'] as const

/** One run: progress, changes, promotion. */
export function ScoreRunPage() {
  const id = usePathText('id')
  const run = useApi(
    'GET /api/score-runs/{id}',
    { params: { id } },
    { pollMs: 5_000, isLast: (answer) => !isUnderWay(answer) },
  )
  return (
    <>
      <PageHead title="Score run">{run.data === undefined ? null : <RunActions run={run.data} />}</PageHead>
      <Loaded query={run}>
        {(shown) => (
          <Stack gap="lg">
            <Group>
              <Badge size="lg" variant="light" color={runColors[shown.status]}>
                {shown.status}
              </Badge>
              <Text size="sm">
                Calls of <TimeText at={shown.start} /> – <TimeText at={shown.end} />, from{' '}
                {shown.source === 'postgres' ? 'what is stored' : 'the topic'}
              </Text>
            </Group>
            {shown.problem === null ? null : (
              <Text {...(shown.status === 'failed' ? { c: 'red' } : {})}>
                <PlainText text={shown.problem} />
              </Text>
            )}
            <RunProgress run={shown} />
            <Title order={2} size="h3">
              {shown.status === 'promoted' ? 'What it changed' : 'What it changes'}
            </Title>
            <RunDifferences run={shown} />
          </Stack>
        )}
      </Loaded>
    </>
  )
}

function RunActions({ run }: { run: ScoreRun }) {
  const cancel = useApiChange('POST /api/score-runs/{id}/cancel', reads)
  const promote = useApiChange('POST /api/score-runs/{id}/promote', reads)
  const input = { params: { id: run.id } }
  const askCancel = () =>
    confirmAction({
      title: 'Cancel this run?',
      consequence: 'What it has scored stays with it; nothing more is scored.',
      confirm: 'Cancel the run',
      action: () => cancel.mutateAsync(input),
      done: 'The run is cancelled.',
    })
  const askPromote = () =>
    confirmAction({
      title: 'Promote this run?',
      consequence:
        'Its verdicts become the live ones in lists and statistics. The current ones are kept under this run.',
      confirm: 'Promote',
      isDangerous: false,
      action: () => promote.mutateAsync(input),
      done: 'The run is being promoted.',
    })
  return (
    <>
      {isUnderWay(run) && run.status !== 'promoting' ? (
        <Button variant="default" onClick={askCancel}>
          Cancel
        </Button>
      ) : null}
      {run.status === 'done' ? <Button onClick={askPromote}>Promote</Button> : null}
    </>
  )
}
