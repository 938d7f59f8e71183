import { ActionIcon, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { useApiChange } from '../../api/use-api.ts'
import { confirmAction, notifyResult } from '../../parts/confirm-action.tsx'
import { describeOutcome } from '../webhooks/send-test.ts'
import type { Destination } from './kind-fields.ts'

interface DestinationActionsProps {
  destination: Destination
  name: string
  onEdit: (destination: Destination) => void
}

/** The actions of one destination. Test and log are those of webhooks. */
export function DestinationActions({ destination, name, onEdit }: DestinationActionsProps) {
  const test = useApiChange('POST /api/v1/webhooks/{id}/test', [
    'GET /api/v1/webhooks/{id}/deliveries',
    'GET /api/v1/destinations',
  ])
  const remove = useApiChange('DELETE /api/v1/destinations/{id}', ['GET /api/v1/destinations'])
  const input = { params: { id: destination.id }, query: { project_id: destination.project_id } }
  const [event = 'threat_detected'] = destination.events
  const sendTest = () =>
    notifyResult(
      test
        .mutateAsync({ ...input, body: { event } })
        .then(({ delivery_id: id }) => describeOutcome(input, id)),
      (outcome) => outcome,
    )
  const askRemove = () =>
    confirmAction({
      title: 'Delete this destination?',
      consequence: `${name} gets no more events, and its delivery log is deleted.`,
      confirm: 'Delete',
      action: () => remove.mutateAsync(input),
      done: 'The destination is deleted.',
    })
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" aria-label={`Actions for ${name}`}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onEdit(destination)}>Edit</Menu.Item>
        <Menu.Item onClick={() => void sendTest()}>Send Test Event</Menu.Item>
        <Menu.Item color="red" onClick={askRemove}>
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
