import { Badge, Button } from '@mantine/core'
import type { Item } from '../../api/call-api.ts'
import { useMe } from '../../api/session.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { ChangePassword } from './change-password.tsx'

type Login = Item<'GET /api/me/logins'>

/** Where one is logged in; what one does not know is ended. */
export function LoginsPage() {
  const logins = useApi('GET /api/me/logins', {}, { pollMs: 30_000 })
  return (
    <>
      <PageHead title="Your sessions">
        <ChangePassword />
      </PageHead>
      <Loaded
        query={logins}
        empty={{
          when: ({ items }) => items.length === 0,
          show: <Nothing title="No session is open">All of yours have ended.</Nothing>,
        }}
      >
        {({ items }) => <LoginTable logins={items} />}
      </Loaded>
    </>
  )
}

function LoginTable({ logins }: { logins: readonly Login[] }) {
  const ownId = useMe().data?.login_id
  const end = useApiChange('DELETE /api/me/logins/{login_id}', ['GET /api/me/logins'])
  const ask = ({ id, address }: Login) =>
    askFirst({
      title: 'End this session?',
      consequence: `Whoever uses it${address === null ? '' : ` from ${address}`} has to log in again. If that is not you, change your password too.`,
      confirm: 'End it',
      action: () => end.mutateAsync({ params: { login_id: id } }),
      done: 'The session has ended.',
    })
  const columns: Column<Login>[] = [
    {
      title: 'Browser',
      cell: ({ user_agent: agent }) => (agent === null ? 'Unknown' : <PlainText text={agent} />),
    },
    { title: 'Address', cell: ({ address }) => (address === null ? '–' : <PlainText text={address} />) },
    { title: 'Since', cell: (login) => <TimeText at={login.created_at} /> },
    { title: 'Last used', cell: (login) => <TimeText at={login.last_seen_at} isAgo /> },
    { title: 'Ends by itself', cell: (login) => <TimeText at={login.ends_at} /> },
    {
      title: 'Action',
      cell: (login) =>
        login.id === ownId ? (
          <Badge variant="default">This one</Badge>
        ) : (
          <Button size="compact-sm" variant="subtle" color="red" onClick={() => ask(login)}>
            End
          </Button>
        ),
    },
  ]
  return <RowsTable label="Sessions" columns={columns} rows={logins} keyOf={({ id }) => id} minWidth={860} />
}
