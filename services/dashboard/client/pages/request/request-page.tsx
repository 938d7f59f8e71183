import { Alert, Button, CopyButton, Grid, Group, Stack, Tabs, Text } from '@mantine/core'
import { IconCheck, IconChevronLeft, IconChevronRight, IconCopy } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import { readScores } from '#schemas/call-reading.ts'
import { rowsIn } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { usePathText, useTexts } from '../../app/address.ts'
import { usePageKeys } from '../../app/page-keys.ts'
import { useNamedProject } from '../../app/project.ts'
import { formatTime } from '../../formats/format-time.ts'
import { describeReading } from '../../formats/verdict-words.ts'
import { worseVerdict } from '../../formats/worst-verdict.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { NoAnswerYet } from '../../parts/page-states.tsx'
import { SessionLink } from '../../parts/session-link.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import { Conversation } from './conversation.tsx'
import { Findings } from './findings.tsx'
import { readEvidence, type Evidence, type ScoredEvidence } from './mark-evidence.ts'
import { idOf } from './marked-text.tsx'
import { RawJson } from './raw-json.tsx'
import { verdictOf, type RequestDetail, type Score } from './request-detail.ts'
import { UnsafeScores } from './score-groups.tsx'

/** One call: its content, findings with evidence, and reviews. */
export function RequestPage() {
  const id = usePathText('id')
  const request = useRequest(id, useTexts().project)
  // Links from here keep the request's project, whatever the address named.
  useNamedProject(request.data?.project_id)
  if (request.data !== undefined) return <Detail key={id} request={request.data} />
  return (
    <>
      <PageHead title="Request" />
      <NoAnswerYet query={request} />
    </>
  )
}

/** Finds the request in any project; the address decides only if several have this id. */
function useRequest(id: string, project_id: string | undefined) {
  const found = useApi('GET /api/requests/{id}', { params: { id }, query: {} }, { isFixed: true })
  const isOfSeveral = found.error?.status === 422 && project_id !== undefined
  const named = useApi(
    'GET /api/requests/{id}',
    { params: { id }, query: { project_id } },
    { isFixed: true, enabled: isOfSeveral },
  )
  return isOfSeveral ? named : found
}

/** The current scores, which arrive seconds after the call; the call itself is not refetched. */
function useScores({ id, project_id, safety_scores }: RequestDetail): readonly Score[] {
  const query = { project_id, request_id: id, page_size: '200' }
  const { data } = useApi('GET /api/safety-scores', { query }, { pollMs: 10_000 })
  return data === undefined ? safety_scores : rowsIn<'GET /api/safety-scores'>(data)
}

function Detail({ request }: { request: RequestDetail }) {
  const scores = useScores(request)
  const worst = scores.map(verdictOf).reduce(worseVerdict, { label: null, severity: null })
  const reading = scores.length === 0 ? undefined : readingOf(scores)
  const [tab, setTab] = useState('conversation')
  const hasBodies = request.request_body !== null || request.response_body !== null
  const onSeek = hasBodies ? (found: Evidence) => seek(found, setTab) : undefined
  const evidence = useMemo(
    () =>
      scores.flatMap((score): ScoredEvidence[] =>
        readEvidence(score.evidence).map((found) => ({ ...found, scorer: score.scorer_name })),
      ),
    [scores],
  )
  return (
    <>
      <PageHead
        title={`Request of ${formatTime(request.created_at)}`}
        heading={<TimeText at={request.created_at} />}
      >
        <VerdictBadge {...worst} verdict={reading?.verdict} />
        {reading === undefined ? null : (
          <Text size="sm" c="dimmed">
            <PlainText text={describeReading(reading) ?? ''} />
          </Text>
        )}
        {/* Beside the conversation on wide screens, else below it. */}
        <Button
          variant="default"
          size="xs"
          hiddenFrom="lg"
          onClick={() => show(document.getElementById('scores'), 'start')}
        >
          Scores
        </Button>
        <CopyId id={request.id} />
        <SessionSteps request={request} />
      </PageHead>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack>
            <UnsafeScores request={request} scores={scores} onSeek={onSeek} />
            <FailureOf request={request} />
            <Bodies request={request} evidence={evidence} tab={tab} setTab={setTab} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Findings request={request} scores={scores} onSeek={onSeek} />
        </Grid.Col>
      </Grid>
    </>
  )
}

/** Why the call has failed or broke off: not words of the model. */
function FailureOf({ request: { error, status_code: status, aborted_by: by } }: { request: RequestDetail }) {
  if (error === null && (status ?? 0) < 400 && by === null) return null
  const title = (status ?? 0) >= 400 ? `The call failed with status ${status}` : 'The call failed'
  return (
    <Alert color="red" title={error === null && by !== null ? `Broken off by the ${by}` : title}>
      <PlainText text={error ?? ''} />
    </Alert>
  )
}

/** What the current scores say together, as the API says it of those that it knew. */
function readingOf(scores: readonly Score[]) {
  const { verdict, decided, applicable, unreadScorers } = readScores(scores)
  return { verdict, coverage: { decided, applicable }, unread_scorers: unreadScorers }
}

/** Scrolls to a piece of evidence. Evidence in the JSON text, or without a text, is only in the raw JSON. */
function seek(evidence: Evidence, setTab: (tab: string) => void): void {
  flushSync(() => setTab('conversation'))
  const mark = document.getElementById(idOf(evidence))
  if (mark === null) flushSync(() => setTab('raw'))
  show(mark ?? document.getElementById('bodies-panel-raw'), mark === null ? 'start' : 'center')
}

function show(element: HTMLElement | null, block: ScrollLogicalPosition): void {
  element?.scrollIntoView({ block })
  element?.focus({ preventScroll: true })
}

interface BodiesProps {
  request: RequestDetail
  evidence: readonly ScoredEvidence[]
  tab: string
  setTab: (tab: string) => void
}

function Bodies({ request, evidence, tab, setTab }: BodiesProps) {
  if (request.bodies_withheld) {
    return (
      <Alert color="gray" title="You cannot see the content">
        Viewers see facts and verdicts. An administrator can make you an analyst.
      </Alert>
    )
  }
  if (request.request_body === null && request.response_body === null) {
    return (
      <Alert color="gray" title={request.bodies_erased ? 'Content erased' : 'Content not stored'}>
        {request.zero_content_retention
          ? 'The project keeps no content: it was scored and never stored.'
          : 'Only facts and scores are kept.'}
      </Alert>
    )
  }
  return (
    <Tabs id="bodies" value={tab} onChange={(chosen) => setTab(chosen ?? 'conversation')} keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="conversation">Conversation</Tabs.Tab>
        <Tabs.Tab value="raw">Raw JSON</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="conversation">
        <Conversation request={request} evidence={evidence} />
      </Tabs.Panel>
      <Tabs.Panel value="raw" tabIndex={-1}>
        <RawJson request={request} />
      </Tabs.Panel>
    </Tabs>
  )
}

function CopyId({ id }: { id: string }) {
  return (
    <CopyButton value={id}>
      {({ copied, copy }) => (
        <Button
          variant="default"
          size="xs"
          onClick={copy}
          leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
        >
          {copied ? 'Copied' : 'Copy id'}
        </Button>
      )}
    </CopyButton>
  )
}

/** Links to the previous and next call of the session, also by keyboard. */
function SessionSteps({ request }: { request: RequestDetail }) {
  const navigate = useNavigate()
  const { previous_in_session: previous, next_in_session: next, session_id } = request
  const go = (id: string | null) => {
    if (id !== null) void navigate({ to: `/requests/${id}` })
  }
  usePageKeys({ previousCall: () => go(previous), nextCall: () => go(next) })
  if (session_id === null) return null
  return (
    <Group gap="xs">
      <Button
        variant="default"
        size="xs"
        disabled={previous === null}
        onClick={() => go(previous)}
        leftSection={<IconChevronLeft size={14} aria-hidden />}
      >
        Previous
      </Button>
      <Button
        variant="default"
        size="xs"
        disabled={next === null}
        onClick={() => go(next)}
        rightSection={<IconChevronRight size={14} aria-hidden />}
      >
        Next
      </Button>
      <SessionLink id={session_id} from={request.created_at} to={request.created_at} size="sm">
        Session
      </SessionLink>
    </Group>
  )
}
