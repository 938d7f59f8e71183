import { Badge, Button, Code, Group, Stack } from '@mantine/core'
import { useApiChange } from '../../api/use-api.ts'
import { confirmAction } from '../../parts/confirm-action.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { usePersisted } from '../../parts/use-draft.ts'
import { ChangeKey } from './change-key.tsx'
import { scopeNames } from './create-key.tsx'
import { limitLines, spentOf, type Key } from './key-limits.ts'

const shownColumns: readonly Column<Key>[] = [
  { title: 'Name', cell: (key) => <PlainText text={key.name} /> },
  { title: 'Label', cell: (key) => (key.label === null ? null : <PlainText text={key.label} />) },
  { title: 'Ends in', cell: (key) => <Code>…{key.last4}</Code> },
  { title: 'Scope', cell: (key) => <Badge variant="default">{scopeNames[key.scope]}</Badge> },
  {
    title: 'User and team',
    cell: (key) => (
      <Stack gap={0}>
        {[key.user, key.team].map((name) => name !== null && <PlainText key={name} text={name} />)}
      </Stack>
    ),
  },
  {
    title: 'Limits',
    cell: (key) => (
      <Stack gap={0}>
        {limitLines(key).map((line) => (
          <PlainText key={line} text={line} />
        ))}
      </Stack>
    ),
  },
  { title: 'Spent this month', cell: spentOf },
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
]

interface KeyActions {
  onChange: (key: Key) => void
  onRevoke: (key: Key) => void
}

function actionColumn({ onChange, onRevoke }: KeyActions): Column<Key> {
  return {
    title: 'Action',
    cell: (key) => (
      <Group gap={0} wrap="nowrap">
        <Button
          size="compact-sm"
          variant="subtle"
          aria-label={`Change ${key.name}`}
          onClick={() => onChange(key)}
        >
          Change
        </Button>
        <Button
          size="compact-sm"
          variant="subtle"
          color="red"
          aria-label={`Revoke ${key.name}`}
          onClick={() => onRevoke(key)}
        >
          Revoke
        </Button>
      </Group>
    ),
  }
}

export function KeyTable({ projectId, keys }: { projectId: string; keys: readonly Key[] }) {
  const [changedId, setChanged] = usePersisted<string>(`key.changed.${projectId}`)
  const changed = keys.find(({ id }) => id === changedId)
  const revoke = useApiChange('DELETE /api/projects/{id}/keys/{key_id}', ['GET /api/projects/{id}/keys'])
  const ask = (key: Key) =>
    confirmAction({
      title: `Revoke “${key.name}”?`,
      consequence: `Requests with the key ending in ${key.last4} are refused from now on; gateways notice within a minute.`,
      confirm: 'Revoke',
      action: () => revoke.mutateAsync({ params: { id: projectId, key_id: key.id } }),
      done: 'The key is revoked.',
    })
  const columns = [...shownColumns, actionColumn({ onChange: (key) => setChanged(key.id), onRevoke: ask })]
  return (
    <>
      {changed === undefined ? null : (
        <ChangeKey
          key={changed.id}
          projectId={projectId}
          apiKey={changed}
          onClose={() => setChanged(undefined)}
        />
      )}
      <RowsTable label="API keys" columns={columns} rows={keys} keyOf={(key) => key.id} minWidth={1240} />
    </>
  )
}
