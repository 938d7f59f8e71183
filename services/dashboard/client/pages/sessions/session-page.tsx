import { Badge, Button, Group, Paper, Stack, Text, Timeline } from '@mantine/core'
import { IconAlertTriangle, IconMessage, IconTool } from '@tabler/icons-react'
import type { Answer } from '../../api/call-api.ts'
import { useApiPages } from '../../api/use-api.ts'
import { usePathText } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { formatCount, formatDuration, formatShort, formatUsd, nounOf } from '../../formats/format-number.ts'
import type { SearchTexts } from '../../formats/search-texts.ts'
import { rangeAround, type RangeTexts } from '../../formats/time-range.ts'
import { NextPage } from '../../parts/next-page.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Failure, NoAnswerYet } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'

type Session = Answer<'GET /api/sessions/{id}'>
const dayMs = 24 * 3_600_000
type Call = NonNullable<Session['items']>[number]

/** One agent session, call by call. */
export function SessionPage() {
  const id = usePathText('id')
  const { id: project_id } = useProject()
  // Sessions have hundreds of calls, and 200 load as fast as 50.
  const query = { project_id, page_size: '200' }
  const pages = useApiPages('GET /api/sessions/{id}', { params: { id }, query })
  const [first] = pages.data?.pages ?? []
  if (first === undefined)
    return (
      <>
        <PageHead title="Session" />
        <NoAnswerYet query={pages} />
      </>
    )
  const calls = pages.data?.pages.flatMap(({ items }) => items) ?? []
  // From the very first call: totals of a long session start later.
  const range = rangeAround(
    { from: calls[0]?.created_at ?? first.started_at, to: first.last_at },
    dayMs,
    Date.now(),
  )
  // Without this source, the list excludes probes.
  const ofRedteam = calls[0]?.source === 'redteam' ? { source: 'redteam' } : {}
  const asList = { ...ofRedteam, session_id: id, ...range }
  return (
    <>
      <PageHead title={`Session ${id}`} heading={<PlainText text={id} />}>
        <PageLink to="/requests" search={asList} size="sm">
          Show as list
        </PageLink>
        <Button
          variant="default"
          loading={pages.isRefetching && !pages.isFetchingNextPage}
          onClick={() => void pages.refetch()}
        >
          Refresh
        </Button>
      </PageHead>
      <Stack gap="lg">
        <SessionSums session={first} asList={asList} />
        <OthersOf agents={first.agents} users={calls.map(({ user_id }) => user_id)} range={range} />
        {pages.isError ? <Failure error={pages.error} retry={pages.refetch} /> : null}
        <Timeline bulletSize={26} active={calls.length} lineWidth={2}>
          {calls.map((call, index) => (
            <Timeline.Item
              key={call.id}
              bullet={<CallIcon call={call} />}
              {...(call.worst_label === 'unsafe' ? { color: 'red' } : {})}
            >
              <CallLine call={call} gapMs={gapBefore(calls[index - 1], call)} />
            </Timeline.Item>
          ))}
        </Timeline>
        <NextPage query={pages} label="Later calls" />
      </Stack>
    </>
  )
}

function SessionSums({ session, asList }: { session: Session; asList: SearchTexts }) {
  const lengthMs = Date.parse(session.last_at) - Date.parse(session.started_at)
  const sums = [
    `${session.calls_are_exact ? '' : 'the last '}${formatCount(session.calls)} ${nounOf(session.calls, 'call')}`,
    `${formatCount(session.tool_calls)} of tools`,
    `${formatCount(session.failed)} failed`,
    `${formatShort(session.total_tokens)} tokens`,
    formatUsd(session.cost_usd),
    `over ${formatDuration(lengthMs)}`,
  ]
  return (
    <Paper withBorder p="sm">
      <Group gap="lg">
        <Text size="sm">
          <TimeText at={session.started_at} />
        </Text>
        <PageLink to="/requests" search={{ ...asList, label: 'unsafe' }} size="sm">
          {formatCount(session.unsafe)} unsafe
        </PageLink>
        {sums.map((sum) => (
          <Text key={sum} size="sm">
            {sum}
          </Text>
        ))}
      </Group>
    </Paper>
  )
}

/** Links to other sessions of the same agents and users around this time. */
function OthersOf({
  agents,
  users,
  range,
}: {
  agents: string[]
  users: (string | null)[]
  range: RangeTexts
}) {
  const named = [
    ...agents.map((name) => ['agent_name', name] as const),
    ...[...new Set(users)].flatMap((name) => (name === null ? [] : [['user_id', name] as const])),
  ]
  if (named.length === 0) return null
  return (
    <Group gap="xs">
      <Text size="sm">Other sessions of</Text>
      {named.slice(0, 10).map(([filter, name]) => (
        <PageLink key={`${filter} ${name}`} to="/sessions" search={{ [filter]: name, ...range }} size="sm">
          <PlainText text={name} />
        </PageLink>
      ))}
    </Group>
  )
}

function CallIcon({ call }: { call: Call }) {
  if (call.worst_label === 'unsafe') return <IconAlertTriangle size={15} aria-hidden />
  return call.type === 'mcp_tool_call' ? (
    <IconTool size={15} aria-hidden />
  ) : (
    <IconMessage size={15} aria-hidden />
  )
}

/** The time between two calls: the agent worked, or waited for somebody. */
function gapBefore(before: Call | undefined, call: Call): number {
  return before === undefined ? 0 : Date.parse(call.created_at) - Date.parse(before.created_at)
}

function CallLine({ call, gapMs }: { call: Call; gapMs: number }) {
  const unsafe = call.safety_scores.filter(({ score_label }) => score_label === 'unsafe')
  const hasFailed = call.error !== null || (call.status_code ?? 0) >= 400
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <PageLink to="/requests/$id" params={{ id: call.id }} fw={600}>
          <PlainText text={call.tool_name ?? call.model} />
        </PageLink>
        <VerdictBadge label={call.worst_label} severity={call.worst_severity} verdict={call.verdict} />
        {hasFailed ? (
          <Badge color="red.9">failed{call.status_code === null ? '' : ` ${call.status_code}`}</Badge>
        ) : null}
      </Group>
      <Text size="xs" c="dimmed">
        <TimeText at={call.created_at} />
        {gapMs === 0 ? '' : `, ${formatDuration(gapMs)} later`}
        {`, took ${formatDuration(call.latency_ms)}, ${formatUsd(call.cost_usd)}`}
        {call.agent_name === null ? null : (
          <>
            , <PlainText text={call.agent_name} />
          </>
        )}
      </Text>
      {unsafe.map(({ id, scorer_name, rationale }) => (
        <Text key={id} size="sm">
          <PlainText text={rationale === null ? scorer_name : `${scorer_name}: ${rationale}`} />
        </Text>
      ))}
    </Stack>
  )
}
