import { Badge, Button, Group, Progress, Select, Stack, Text, Title } from '@mantine/core'
import { addressOf, rowsIn } from '../../api/call-api.ts'
import { useMe } from '../../api/session.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { usePathText, useSetTexts, useTexts } from '../../app/address.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { formatCount } from '../../formats/format-number.ts'
import { formatMoment } from '../../formats/format-time.ts'
import { confirmAction } from '../../parts/confirm-action.tsx'
import { DownloadButton } from '../../parts/download-button.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { AttemptList } from './attempt-list.tsx'
import { CategoryTable } from './category-table.tsx'
import { describeTarget, isUnderWay, statusColors, type RedTeamRun } from './red-team-texts.ts'

/** One run: progress, results, and a comparison with another run. */
export function RedTeamRunPage() {
  const id = usePathText('id')
  const { against } = useTexts()
  const run = useApi(
    'GET /api/redteam-runs/{id}',
    { params: { id } },
    { pollMs: 3_000, isLast: (answer) => !isUnderWay(answer) },
  )
  return (
    <>
      <PageHead title="Red-team run">
        {run.data === undefined ? null : <RunActions run={run.data} against={against} />}
      </PageHead>
      <Loaded query={run}>
        {(shown) => (
          <Stack gap="lg">
            <RunState run={shown} />
            <Title order={2} size="h3">
              By category
            </Title>
            <CategoryTable id={id} against={against} isUnderWay={isUnderWay(shown)} />
            <Title order={2} size="h3">
              Attacks
            </Title>
            <AttemptList run={shown} />
          </Stack>
        )}
      </Loaded>
    </>
  )
}

function RunState({ run }: { run: RedTeamRun }) {
  const { status, sent_count: sent, planned_count: planned, problem, stopped_by: stoppedBy } = run
  return (
    <Stack gap="xs">
      <Group>
        <Badge size="lg" variant="light" color={statusColors[status]}>
          {status}
        </Badge>
        <Text style={{ overflowWrap: 'anywhere' }}>
          <PlainText text={run.agent_name} /> at <PlainText text={describeTarget(run)} />
        </Text>
      </Group>
      {problem === null ? null : (
        <Text c="red">
          <PlainText text={problem} />
        </Text>
      )}
      {stoppedBy === null ? null : (
        <Text>{stoppedBy === 'budget' ? 'Stopped at its budget.' : 'Stopped: the model has no price.'}</Text>
      )}
      {planned === null ? null : (
        <>
          <Progress value={planned === 0 ? 100 : (100 * sent) / planned} aria-label="Attacks sent" />
          <Text size="sm">
            {formatCount(sent)} of {formatCount(planned)} sent · {formatCount(run.fail_count)} got through,{' '}
            {formatCount(run.critical_count)} of them critical · {formatCount(run.pass_count)} held ·{' '}
            {formatCount(run.unscored_count)} not judged
          </Text>
        </>
      )}
    </Stack>
  )
}

function RunActions({ run, against }: { run: RedTeamRun; against: string | undefined }) {
  const role = useMe().data?.role ?? 'viewer'
  const setTexts = useSetTexts()
  const cancel = useApiChange('POST /api/redteam-runs/{id}/cancel', [
    'GET /api/redteam-runs',
    'GET /api/redteam-runs/{id}',
  ])
  const others = useApi('GET /api/redteam-runs', {
    query: { project_id: run.project_id, agent_name: run.agent_name, page_size: '50' },
  })
  const choices =
    others.data === undefined
      ? []
      : rowsIn<'GET /api/redteam-runs'>(others.data)
          .filter(({ id }) => id !== run.id)
          .map(({ id, created_at: at }) => ({ value: id, label: formatMoment(at) }))
  const ask = () =>
    confirmAction({
      title: 'Cancel this run?',
      consequence: 'No further attack is sent. What was sent stays recorded and scored.',
      confirm: 'Cancel the run',
      action: () => cancel.mutateAsync({ params: { id: run.id } }),
      done: 'The run is cancelled.',
    })
  const report = addressOf('GET /api/redteam-runs/{id}/report', {
    params: { id: run.id },
    query: { format: 'html' },
  })
  return (
    <>
      <Select
        aria-label="Compare with"
        placeholder="Compare with…"
        clearable
        data={choices}
        value={against ?? null}
        onChange={(value) => setTexts({ against: value ?? undefined })}
      />
      {mayVisit(role, { role: 'analyst' }) ? (
        <DownloadButton address={report} name={`red-team-${run.id}.html`}>
          Report
        </DownloadButton>
      ) : null}
      {isUnderWay(run) && mayVisit(role, { role: 'admin' }) ? (
        <Button variant="default" onClick={ask}>
          Cancel
        </Button>
      ) : null}
    </>
  )
}
