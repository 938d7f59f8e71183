import { Badge, Button, Group, Stack, Switch, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { rowsIn } from '../../api/call-api.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { formatShare } from '../../formats/format-number.ts'
import { notifyResult } from '../../parts/confirm-action.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { PageNumbers } from '../../parts/page-numbers.tsx'
import { DeliveryBadge } from '../../parts/delivery-badge.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { usePersisted } from '../../parts/use-draft.ts'
import { FailureNotes } from '../webhooks/failure-notes.tsx'
import { eventNames } from '../webhooks/webhook-texts.ts'
import { DestinationActions } from './destination-actions.tsx'
import { DestinationForm } from './destination-form.tsx'
import { kindForms, type Destination } from './kind-fields.ts'

const pageSize = 50

/** Where events go besides webhooks, and how that went. */
export function DestinationsPage() {
  const { id: project_id } = useProject()
  const { page = '1' } = useTexts()
  const destinations = useApi(
    'GET /api/v1/destinations',
    { query: { project_id, page, page_size: String(pageSize) } },
    { pollMs: 30_000, keepsPrevious: true },
  )
  // 'new', or the one being edited.
  const [edited, setEdited] = usePersisted<Destination | 'new'>(`destination.${project_id}`)
  return (
    <>
      <PageHead title="Destinations">
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited('new')}>
          Add destination
        </Button>
      </PageHead>
      {edited === undefined ? null : (
        <DestinationForm
          projectId={project_id}
          destination={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      <Loaded
        query={destinations}
        empty={{
          when: ({ total }) => total === 0,
          show: (
            <Nothing title="No destinations yet">
              A destination sends events to chat, paging, issues, mail or a SIEM, in its own format.
            </Nothing>
          ),
        }}
      >
        {(answer) => (
          <>
            <DestinationTable destinations={rowsIn<'GET /api/v1/destinations'>(answer)} onEdit={setEdited} />
            <PageNumbers total={answer.total} pageSize={pageSize} />
          </>
        )}
      </Loaded>
    </>
  )
}

/** Its kind and address, as one says it. */
const nameOf = ({ kind, url }: Destination) => `${kindForms[kind].label} ${url}`

interface DestinationTableProps {
  destinations: readonly Destination[]
  onEdit: (destination: Destination) => void
}

function DestinationTable({ destinations, onEdit }: DestinationTableProps) {
  const columns: Column<Destination>[] = [
    { title: 'Enabled', cell: (destination) => <EnabledSwitch destination={destination} /> },
    {
      title: 'To',
      cell: (destination) => (
        <Stack gap={2}>
          <PageLink to="/settings/destinations/$id/deliveries" params={{ id: destination.id }}>
            <PlainText text={nameOf(destination)} />
          </PageLink>
          <FailureNotes of={destination} />
        </Stack>
      ),
    },
    { title: 'Last result', cell: ({ last_result: last }) => <LastResult last={last} /> },
    {
      title: 'Failed, last day',
      isNumber: true,
      cell: ({ last_day: { failed, deliveries } }) => formatShare(failed, deliveries),
    },
    {
      title: 'Events',
      cell: ({ events }) => (
        <Group gap={4}>
          {events.map((event) => (
            <Badge key={event} variant="default">
              {eventNames[event]}
            </Badge>
          ))}
        </Group>
      ),
    },
    {
      title: 'Actions',
      cell: (destination) => (
        <DestinationActions destination={destination} name={nameOf(destination)} onEdit={onEdit} />
      ),
    },
  ]
  return (
    <RowsTable
      label="Destinations"
      columns={columns}
      rows={destinations}
      keyOf={({ id }) => id}
      minWidth={900}
    />
  )
}

function LastResult({ last }: { last: Destination['last_result'] }) {
  if (last === null) return <Text size="sm">None yet</Text>
  return (
    <>
      <DeliveryBadge status={last.status} />
      <Text size="xs" c="dimmed">
        <TimeText at={last.at} isAgo />
      </Text>
    </>
  )
}

function EnabledSwitch({ destination }: { destination: Destination }) {
  const change = useApiChange('PATCH /api/v1/destinations/{id}', ['GET /api/v1/destinations'])
  const { id, project_id } = destination
  const toggle = (enabled: boolean) =>
    notifyResult(
      change.mutateAsync({ params: { id }, query: { project_id }, body: { enabled } }),
      enabled ? 'The destination is enabled.' : 'The destination is disabled.',
    )
  return (
    <Switch
      checked={destination.enabled}
      disabled={change.isPending}
      aria-label={`Enable ${nameOf(destination)}`}
      onChange={(event) => void toggle(event.currentTarget.checked)}
    />
  )
}
