import { Badge, Button, Center, Group, Stack, Table, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { rowsOf, useApiPages } from '../../api/use-api.ts'
import type { Item } from '../../api/call-api.ts'
import { useSetTexts, useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { useSteadyRange } from '../../app/use-range.ts'
import { formatCount, formatShort, formatUsd } from '../../formats/format-number.ts'
import { FilterPill } from '../../parts/filter-pill.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Failure, Nothing, Waiting } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { SessionLink } from '../../parts/session-link.tsx'
import { TimeText } from '../../parts/time-text.tsx'

type Session = Item<'GET /api/sessions'>

/** Runs of agents, those with the latest calls first. */
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
      {pages.isPending ? <Waiting /> : null}
      {pages.isError ? <Failure error={pages.error} retry={pages.refetch} /> : null}
      {pages.isSuccess && sessions.length === 0 ? (
        <Nothing title="No sessions in this time">
          Calls that carry a session id are shown here as one run.
        </Nothing>
      ) : null}
      {sessions.length === 0 ? null : (
        <Stack>
          <SessionTable sessions={sessions} />
          {pages.hasNextPage ? (
            <Center>
              <Button
                variant="default"
                loading={pages.isFetchingNextPage}
                onClick={() => void pages.fetchNextPage()}
              >
                More
              </Button>
            </Center>
          ) : null}
        </Stack>
      )}
    </>
  )
}

const filters = [
  ['agent_name', 'agent'],
  ['user_id', 'user'],
] as const

/** Fields for filters that are off, and the way out of those that are on. */
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
            <TextInput name="text" size="xs" w={160} maxLength={256} label={`Only of the ${label}`} />
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
  return (
    <Table.ScrollContainer minWidth={820}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Session</Table.Th>
            <Table.Th>Last call</Table.Th>
            <Table.Th>Agents</Table.Th>
            <Table.Th ta="right">Calls</Table.Th>
            <Table.Th ta="right">Tool calls</Table.Th>
            <Table.Th ta="right">Failed</Table.Th>
            <Table.Th ta="right">Unsafe</Table.Th>
            <Table.Th ta="right">Tokens</Table.Th>
            <Table.Th ta="right">Cost</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sessions.map((session) => (
            <SessionRow key={session.session_id} session={session} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function SessionRow({ session }: { session: Session }) {
  const { session_id, agents, unsafe, calls_are_exact: isExact } = session
  const setTexts = useSetTexts()
  return (
    <Table.Tr>
      <Table.Td>
        <SessionLink id={session_id} from={session.started_at} to={session.last_at}>
          <PlainText text={session_id} />
        </SessionLink>
      </Table.Td>
      <Table.Td>
        <TimeText at={session.last_at} isAgo />
      </Table.Td>
      <Table.Td>
        <Group gap={4}>
          {agents.slice(0, 3).map((agent) => (
            <Button
              key={agent}
              variant="default"
              size="compact-xs"
              title="Only of this agent"
              onClick={() => setTexts({ agent_name: agent })}
            >
              <PlainText text={agent} />
            </Button>
          ))}
          {agents.length > 3 ? `and ${agents.length - 3} more` : null}
        </Group>
      </Table.Td>
      <SumCell isExact={isExact}>{formatCount(session.calls)}</SumCell>
      <SumCell isExact={isExact}>{formatCount(session.tool_calls)}</SumCell>
      <SumCell isExact={isExact}>{formatCount(session.failed)}</SumCell>
      <SumCell isExact={isExact}>
        {unsafe === 0 ? '0' : <Badge color="red.9">{formatCount(unsafe)}</Badge>}
      </SumCell>
      <SumCell isExact={isExact}>{formatShort(session.total_tokens)}</SumCell>
      <SumCell isExact={isExact}>{formatUsd(session.cost_usd)}</SumCell>
    </Table.Tr>
  )
}

/** Of a long session only its last calls are summed up: such a sum is that or more. */
function SumCell({ isExact, children }: { isExact: boolean; children: ReactNode }) {
  return (
    <Table.Td ta="right">
      {children}
      {isExact ? '' : '+'}
    </Table.Td>
  )
}
