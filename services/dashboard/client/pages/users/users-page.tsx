import { Badge, Group, Select } from '@mantine/core'
import { rowsIn, type Item } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { useSetTexts, useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { useRange } from '../../app/use-range.ts'
import { formatCount, formatShare, formatShort, formatUsd } from '../../formats/format-number.ts'
import { rangeTexts, type ChosenRange } from '../../formats/time-range.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { PageNumbers } from '../../parts/page-numbers.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'

type User = Item<'GET /api/users'>
const pageSize = 50
const orders = [
  { value: 'cost', label: 'Highest cost' },
  { value: 'calls', label: 'Most calls' },
  { value: 'unsafe', label: 'Most unsafe calls' },
  { value: 'last_seen', label: 'Latest call' },
] as const
type Order = (typeof orders)[number]['value']

/** Whom the calls were made for. */
export function UsersPage() {
  const project = useProject()
  const range = useRange('30d')
  const setTexts = useSetTexts()
  const { page = '1', order: asked } = useTexts()
  const order: Order = orders.find(({ value }) => value === asked)?.value ?? 'cost'
  const { start, end } = range
  const users = useApi(
    'GET /api/users',
    { query: { project_id: project.id, start, end, order, page, page_size: String(pageSize) } },
    { pollMs: 60_000, keepsPrevious: true },
  )
  return (
    <>
      <PageHead title="Users">
        <Select
          aria-label="Order"
          data={orders}
          value={order}
          allowDeselect={false}
          onChange={(value) => setTexts({ order: value ?? undefined, page: undefined })}
          w={170}
        />
        <RangePicker range={range} />
      </PageHead>
      <Loaded
        query={users}
        empty={{
          when: ({ total }) => total === 0,
          show: (
            <Nothing title="No users in this range">
              Calls with a user_id appear here. SDKs take it with each call, gateways as X-Service-User-Id.
            </Nothing>
          ),
        }}
      >
        {(answer) => (
          <>
            <UserTable users={rowsIn<'GET /api/users'>(answer)} range={range} />
            <PageNumbers total={answer.total} pageSize={pageSize} />
          </>
        )}
      </Loaded>
    </>
  )
}

/** The name leads to the user's page, calls and sessions to their lists. */
function UserTable({ users, range }: { users: readonly User[]; range: ChosenRange }) {
  const ofUser = ({ user_id }: User) => ({ user_id, ...rangeTexts(range) })
  const columns: Column<User>[] = [
    {
      title: 'User',
      cell: (user) => (
        <PageLink to="/users/$id" params={{ id: user.user_id }} search={{ ...rangeTexts(range) }}>
          <PlainText text={user.user_id} />
        </PageLink>
      ),
    },
    { title: 'Last seen', cell: (user) => <TimeText at={user.last_seen_at} isAgo /> },
    {
      title: 'Calls',
      isNumber: true,
      cell: (user) => (
        <PageLink to="/requests" search={ofUser(user)}>
          {formatCount(user.calls)}
        </PageLink>
      ),
    },
    {
      title: 'Unsafe',
      isNumber: true,
      cell: (user) =>
        user.unsafe === 0 ? (
          '0'
        ) : (
          <PageLink to="/requests" search={{ ...ofUser(user), label: 'unsafe' }}>
            <Group gap={6} component="span" justify="flex-end" wrap="nowrap">
              <Badge color="red.9">{formatCount(user.unsafe)}</Badge> {formatShare(user.unsafe, user.calls)}
            </Group>
          </PageLink>
        ),
    },
    { title: 'Failed', isNumber: true, cell: (user) => formatShare(user.failed, user.calls) },
    {
      title: 'Sessions',
      isNumber: true,
      cell: (user) =>
        user.sessions === 0 ? (
          '0'
        ) : (
          <PageLink to="/sessions" search={ofUser(user)}>
            {formatCount(user.sessions)}
            {user.sessions_are_exact ? '' : '+'}
          </PageLink>
        ),
    },
    { title: 'Tokens', isNumber: true, cell: (user) => formatShort(user.tokens) },
    { title: 'Cost', isNumber: true, cell: (user) => formatUsd(user.cost_usd) },
  ]
  return (
    <RowsTable label="Users" columns={columns} rows={users} keyOf={(user) => user.user_id} minWidth={760} />
  )
}
