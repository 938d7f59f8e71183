import { Badge, Button, Group, Stack, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { rowsOf, useApiPages } from '../../api/use-api.ts'
import type { Item } from '../../api/call-api.ts'
import { useSetTexts, useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { useSteadyRange } from '../../app/use-range.ts'
import { formatCount, formatShort, formatUsd } from '../../formats/format-number.ts'
import { FilterPill } from '../../parts/filter-pill.tsx'
import { NextPage } from '../../parts/next-page.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { NoAnswerYet, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { SessionLink } from '../../parts/session-link.tsx'
import { TimeText } from '../../parts/time-text.tsx'

type Session = Item<'GET /api/sessions'>

/** Agent sessions, latest calls first. */
export function SessionsPage() {
  const { id: project_id } = useProject()
  const { agent_name, user_id } = useTexts()
  const { range, renew } = useSteadyRange('24h')
  const { start, end } = range
  const pages = useApiPages('GET /api/sessions', {
    query: { project_id, start, end, agent_name, user_id },
  })
  const sessions = rowsOf<'GET /api/sessions'>(pages.data)
  const refresh = () => {
    renew()
    void pages.refetch()
  }
  return (
    <>
      <PageHead title="Sessions">
        <Button variant="default" loading={pages.isRefetching} onClick={refresh}>
          Refresh
        </Button>
        <RangePicker range={range} />
      </PageHead>
      <SessionFilters chosen={{ agent_name, user_id }} />
      {pages.data === undefined ? <NoAnswerYet query={pages} /> : null}
      {pages.isSuccess && sessions.length === 0 ? (
        <Nothing title="No sessions in this range">
          Calls with the same session id appear here as one session.
        </Nothing>
      ) : null}
      {sessions.length === 0 ? null : (
        <Stack>
          <SessionTable sessions={sessions} />
          <NextPage query={pages} label="More" />
        </Stack>
      )}
    </>
  )
}

const filters = [
  ['agent_name', 'agent'],
  ['user_id', 'user'],
] as const

/** Fields for inactive filters, pills for active ones. */
function SessionFilters({
  chosen,
}: {
  chosen: Partial<Record<'agent_name' | 'user_id', string | undefined>>
}) {
  const setTexts = useSetTexts()
  return (
    <Group mb="sm" align="flex-end">
      {filters.map(([name, label]) =>
        chosen[name] === undefined ? (
          <form
            key={name}
            onSubmit={(event) => {
              event.preventDefault()
              const text = new FormData(event.currentTarget).get('text')
              if (typeof text === 'string') setTexts({ [name]: text })
            }}
          >
            <TextInput name="text" size="xs" w={160} maxLength={256} label={`Filter by ${label}`} />
          </form>
        ) : (
          <FilterPill
            key={name}
            label={label}
            value={chosen[name]}
            onRemove={() => setTexts({ [name]: undefined })}
          />
        ),
      )}
    </Group>
  )
}

function SessionTable({ sessions }: { sessions: readonly Session[] }) {
  const columns: Column<Session>[] = [
    {
      title: 'Session',
      cell: ({ session_id: id, started_at: from, last_at: to }) => (
        <SessionLink id={id} from={from} to={to}>
          <PlainText text={id} />
        </SessionLink>
      ),
    },
    { title: 'Last call', cell: ({ last_at: at }) => <TimeText at={at} isAgo /> },
    { title: 'Agents', cell: ({ agents }) => <SessionAgents agents={agents} /> },
    sumColumn('Calls', ({ calls }) => formatCount(calls)),
    sumColumn('Tool calls', ({ tool_calls: calls }) => formatCount(calls)),
    sumColumn('Failed', ({ failed }) => formatCount(failed)),
    sumColumn('Unsafe', ({ unsafe }) =>
      unsafe === 0 ? '0' : <Badge color="red.9">{formatCount(unsafe)}</Badge>,
    ),
    sumColumn('Tokens', ({ total_tokens: tokens }) => formatShort(tokens)),
    sumColumn('Cost', ({ cost_usd: usd }) => formatUsd(usd)),
  ]
  return (
    <RowsTable
      label="Sessions"
      columns={columns}
      rows={sessions}
      keyOf={({ session_id: id }) => id}
      minWidth={820}
    />
  )
}

/** A long session's total covers only its last calls, so it is a lower bound. */
function sumColumn(title: string, sumOf: (session: Session) => ReactNode): Column<Session> {
  const cell = (session: Session) => (
    <>
      {sumOf(session)}
      {session.calls_are_exact ? '' : '+'}
    </>
  )
  return { title, isNumber: true, cell }
}

function SessionAgents({ agents }: Pick<Session, 'agents'>) {
  const setTexts = useSetTexts()
  return (
    <Group gap={4}>
      {agents.slice(0, 3).map((agent) => (
        <Button
          key={agent}
          variant="default"
          size="compact-xs"
          title="Filter by this agent"
          onClick={() => setTexts({ agent_name: agent })}
        >
          <PlainText text={agent} />
        </Button>
      ))}
      {agents.length > 3 ? `and ${agents.length - 3} more` : null}
    </Group>
  )
}
