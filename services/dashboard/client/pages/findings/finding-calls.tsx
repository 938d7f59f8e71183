import { Text } from '@mantine/core'
import { absent, formatCount, nounOf } from '../../formats/format-number.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { SessionLink } from '../../parts/session-link.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import type { FindingDetail } from './finding-texts.ts'

type Call = FindingDetail['calls'][number]

/** The newest calls, and which of them had a value first. */
export function FindingCalls({ finding }: { finding: FindingDetail }) {
  const { calls, values, count } = finding
  if (calls.length === 0)
    return <Text size="sm">None of its calls is stored any more: the counts remain.</Text>
  const firsts = new Set(values.flatMap(({ first_request_id: id }) => id ?? []))
  return (
    <>
      <RowsTable
        label="Calls"
        columns={columnsOf(firsts)}
        rows={calls}
        keyOf={({ score_id: id }) => id}
        minWidth={620}
      />
      {count > calls.length ? (
        <Text size="xs" c="dimmed">
          The newest {formatCount(calls.length)} of {formatCount(count)} {nounOf(count, 'call')}.
        </Text>
      ) : null}
    </>
  )
}

function columnsOf(firsts: ReadonlySet<string>): Column<Call>[] {
  return [
    {
      title: 'Time',
      cell: ({ request_id: id, created_at: at }) => (
        <PageLink to="/requests/$id" params={{ id }}>
          <TimeText at={at} />
        </PageLink>
      ),
    },
    { title: 'Severity', cell: ({ severity }) => <VerdictBadge label="unsafe" severity={severity} /> },
    { title: 'Score', isNumber: true, cell: ({ score_value: value }) => value ?? absent },
    {
      title: 'Value',
      cell: ({ request_id: id }) => (firsts.has(id) ? 'seen here first' : ''),
    },
    { title: 'Model', cell: ({ model }) => <PlainText text={model} /> },
    {
      title: 'Session',
      cell: ({ session_id: id, created_at: at }) =>
        id === null ? (
          absent
        ) : (
          <SessionLink id={id} from={at} to={at}>
            <PlainText text={id} />
          </SessionLink>
        ),
    },
    { title: 'User', cell: ({ user_id: user }) => (user === null ? absent : <PlainText text={user} />) },
  ]
}
