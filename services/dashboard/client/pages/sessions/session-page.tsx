import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Answer } from '../../api/call-api.ts'
import { useMe } from '../../api/session.ts'
import { useApiPages } from '../../api/use-api.ts'
import { usePathText } from '../../app/address.ts'
import { mayVisit } from '../../app/page-entry.ts'
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
import { FormattingContext } from '../request/formatted-text.tsx'
import { MarkIdsContext } from '../request/marked-text.tsx'
import { TextForm } from '../request/text-form.tsx'
import { SessionCallView, type SessionCall } from './session-call.tsx'
import { useSaid } from './use-said.ts'
import { Waterfall } from './waterfall.tsx'

type Session = Answer<'GET /api/sessions/{id}'>
const dayMs = 24 * 3_600_000
/** Calls that are read at once. */
const readAtOnce = 20

/** One agent session: its time, and what was said, call by call. */
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
        <Paper withBorder p="sm">
          <Waterfall calls={calls} />
        </Paper>
        <Calls calls={calls} />
        <NextPage query={pages} label="Later calls" />
      </Stack>
    </>
  )
}

/** The calls in order. Who may read content reads it here, twenty calls at a time. */
function Calls({ calls }: { calls: readonly SessionCall[] }) {
  const mayRead = mayVisit(useMe().data?.role ?? 'viewer', { role: 'analyst' })
  const [count, setCount] = useState(readAtOnce)
  const [form, setForm] = useState('formatted')
  const { said, isReading, error } = useSaid(mayRead ? calls.slice(0, count) : [])
  return (
    <MarkIdsContext value={false}>
      <FormattingContext value={form === 'formatted'}>
        {mayRead ? (
          <TextForm form={form} setForm={setForm} />
        ) : (
          <Alert color="gray" title="You cannot see the content">
            Viewers see facts and verdicts. An administrator can make you an analyst.
          </Alert>
        )}
        {error === null ? null : <Failure error={error} />}
        <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Calls">
          {calls.map((call, index) => (
            <SessionCallView
              key={call.id}
              call={call}
              gapMs={gapBefore(calls[index - 1], call)}
              said={said.get(call.id)}
            />
          ))}
        </Stack>
        {mayRead && calls.length > count ? (
          <Group>
            <Button variant="default" loading={isReading} onClick={() => setCount(count + readAtOnce)}>
              Read the next {Math.min(readAtOnce, calls.length - count)} calls
            </Button>
          </Group>
        ) : null}
      </FormattingContext>
    </MarkIdsContext>
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

/** The time between two calls: the agent worked, or waited for somebody. */
function gapBefore(before: SessionCall | undefined, call: SessionCall): number {
  return before === undefined ? 0 : Date.parse(call.created_at) - Date.parse(before.created_at)
}
