import { Badge, Button, Stack } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { rowsIn } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { useTexts } from '../../app/address.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PageNumbers } from '../../parts/page-numbers.tsx'
import { Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { ShownOnce } from '../../parts/shown-once.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { usePersisted } from '../../parts/use-draft.ts'
import { PersonActions } from './person-actions.tsx'
import { PersonForm, type PersonEntry } from './person-form.tsx'

const pageSize = 50

/** The people who may sign in, with roles and projects. */
export function PeoplePage() {
  const { page = '1' } = useTexts()
  const people = useApi(
    'GET /api/people',
    { query: { page, page_size: String(pageSize) } },
    { keepsPrevious: true },
  )
  const [edited, setEdited] = usePersisted<PersonEntry | 'new'>('person')
  const [password, setPassword] = useState<string>()
  return (
    <>
      <PageHead title="People">
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited('new')}>
          Add person
        </Button>
      </PageHead>
      {password === undefined ? null : <ShownOnce title="Password" secret={password} />}
      {edited === undefined ? null : (
        <PersonForm
          person={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onPassword={setPassword}
        />
      )}
      <Loaded query={people}>
        {(answer) => (
          <>
            <PeopleTable
              people={rowsIn<'GET /api/people'>(answer)}
              onEdit={setEdited}
              onPassword={setPassword}
            />
            <PageNumbers total={answer.total} pageSize={pageSize} />
          </>
        )}
      </Loaded>
    </>
  )
}

interface PeopleTableProps {
  people: readonly PersonEntry[]
  onEdit: (person: PersonEntry) => void
  onPassword: (password: string) => void
}

function PeopleTable({ people, onEdit, onPassword }: PeopleTableProps) {
  const columns: Column<PersonEntry>[] = [
    {
      title: 'Person',
      cell: ({ name, login, disabled }) => (
        <Stack gap={0}>
          <span>
            <PlainText text={name} /> {disabled ? <Badge color="gray">Disabled</Badge> : null}
          </span>
          <PlainText text={login} />
        </Stack>
      ),
    },
    { title: 'Role', cell: ({ role }) => role },
    {
      title: 'Projects',
      cell: ({ role, project_ids: ids }) => (role === 'admin' ? 'All' : ids.length),
    },
    { title: 'Sign-in', cell: (person) => (person.oidc_issuer === null ? 'Password' : 'Single sign-on') },
    {
      title: 'Last seen',
      cell: ({ last_login_at: at }) => (at === null ? 'Never' : <TimeText at={at} isAgo />),
    },
    {
      title: 'Actions',
      cell: (person) => <PersonActions person={person} onEdit={onEdit} onPassword={onPassword} />,
    },
  ]
  return <RowsTable label="People" columns={columns} rows={people} keyOf={({ id }) => id} minWidth={760} />
}
