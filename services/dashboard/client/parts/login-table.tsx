import { Badge, Button } from '@mantine/core'
import type { Item } from '../api/call-api.ts'
import { useMe } from '../api/session.ts'
import { absent } from '../formats/format-number.ts'
import { confirmAction } from './confirm-action.tsx'
import { PlainText } from './plain-text.tsx'
import { RowsTable, type Column } from './rows-table.tsx'
import { TimeText } from './time-text.tsx'

type Login = Item<'GET /api/me/logins'>

interface LoginTableProps {
  logins: readonly Login[]
  /** What to do about an unknown session. */
  advice: string
  end: (loginId: string) => Promise<unknown>
}

/** Sessions; each can be ended except the current one. */
export function LoginTable({ logins, advice, end }: LoginTableProps) {
  const ownId = useMe().data?.login_id
  const ask = ({ id, address }: Login) =>
    confirmAction({
      title: 'End this session?',
      consequence: `Anyone who uses it${address === null ? '' : ` from ${address}`} has to log in again. ${advice}`,
      confirm: 'End session',
      action: () => end(id),
      done: 'The session has ended.',
    })
  const columns: Column<Login>[] = [
    {
      title: 'Browser',
      cell: ({ user_agent: agent }) => (agent === null ? 'Unknown' : <PlainText text={agent} />),
    },
    { title: 'Address', cell: ({ address }) => (address === null ? absent : <PlainText text={address} />) },
    { title: 'Since', cell: (login) => <TimeText at={login.created_at} /> },
    { title: 'Last used', cell: (login) => <TimeText at={login.last_seen_at} isAgo /> },
    { title: 'Expires', cell: (login) => <TimeText at={login.ends_at} /> },
    {
      title: 'Action',
      cell: (login) =>
        login.id === ownId ? (
          <Badge variant="default">Current</Badge>
        ) : (
          <Button size="compact-sm" variant="subtle" color="red" onClick={() => ask(login)}>
            End
          </Button>
        ),
    },
  ]
  return <RowsTable label="Sessions" columns={columns} rows={logins} keyOf={({ id }) => id} minWidth={860} />
}
