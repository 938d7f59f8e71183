import { Badge, Button, Code } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { rowsIn, type Answer, type Item } from '../../api/call-api.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { confirmAction } from '../../parts/confirm-action.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageNumbers } from '../../parts/page-numbers.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { ShownOnce } from '../../parts/shown-once.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { usePersisted } from '../../parts/use-draft.ts'
import { CreateKey, scopeNames } from './create-key.tsx'

type Key = Item<'GET /api/projects/{id}/keys'>
type CreatedKey = Answer<'POST /api/projects/{id}/keys'>
const pageSize = 50

/** A project's API keys: create (shown once), revoke, last use. */
export function KeysPage() {
  const project = useProject()
  const { page = '1' } = useTexts()
  const keys = useApi(
    'GET /api/projects/{id}/keys',
    { params: { id: project.id }, query: { page, page_size: String(pageSize) } },
    { pollMs: 30_000, keepsPrevious: true },
  )
  const [isCreating, setIsCreating] = usePersisted<true>(`key.${project.id}`)
  const [created, setCreated] = useState<CreatedKey>()
  return (
    <>
      <PageHead title="API keys">
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsCreating(true)}>
          Create key
        </Button>
      </PageHead>
      {isCreating ? (
        <CreateKey projectId={project.id} onClose={() => setIsCreating(undefined)} onCreated={setCreated} />
      ) : null}
      {created === undefined ? null : <ShownOnce title={`Key “${created.name}”`} secret={created.key} />}
      <Loaded
        query={keys}
        empty={{
          when: ({ total }) => total === 0,
          show: (
            <Nothing title="No key yet">
              Applications and gateways authenticate with a key, which identifies the project.
            </Nothing>
          ),
        }}
      >
        {(answer) => (
          <>
            <KeyTable projectId={project.id} keys={rowsIn<'GET /api/projects/{id}/keys'>(answer)} />
            <PageNumbers total={answer.total} pageSize={pageSize} />
          </>
        )}
      </Loaded>
    </>
  )
}

function KeyTable({ projectId, keys }: { projectId: string; keys: readonly Key[] }) {
  const revoke = useApiChange('DELETE /api/projects/{id}/keys/{key_id}', ['GET /api/projects/{id}/keys'])
  const ask = (key: Key) =>
    confirmAction({
      title: `Revoke “${key.name}”?`,
      consequence: `Requests with the key ending in ${key.last4} are refused from now on; gateways notice within a minute.`,
      confirm: 'Revoke',
      action: () => revoke.mutateAsync({ params: { id: projectId, key_id: key.id } }),
      done: 'The key is revoked.',
    })
  const columns: Column<Key>[] = [
    { title: 'Name', cell: (key) => <PlainText text={key.name} /> },
    { title: 'Label', cell: (key) => (key.label === null ? null : <PlainText text={key.label} />) },
    { title: 'Ends in', cell: (key) => <Code>…{key.last4}</Code> },
    { title: 'Scope', cell: (key) => <Badge variant="default">{scopeNames[key.scope]}</Badge> },
    { title: 'Created', cell: (key) => <TimeText at={key.created_at} /> },
    {
      title: 'Expires',
      cell: (key) =>
        key.expires_at === null ? (
          'Never'
        ) : (
          <>
            {key.expired ? <Badge color="red">Expired</Badge> : null} <TimeText at={key.expires_at} />
          </>
        ),
    },
    {
      title: 'Last used',
      cell: (key) => (key.last_used_at === null ? 'Never' : <TimeText at={key.last_used_at} isAgo />),
    },
    {
      title: 'Action',
      cell: (key) => (
        <Button
          size="compact-sm"
          variant="subtle"
          color="red"
          aria-label={`Revoke ${key.name}`}
          onClick={() => ask(key)}
        >
          Revoke
        </Button>
      ),
    },
  ]
  return <RowsTable label="API keys" columns={columns} rows={keys} keyOf={(key) => key.id} minWidth={860} />
}
