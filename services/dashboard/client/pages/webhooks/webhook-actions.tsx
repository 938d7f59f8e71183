import { ActionIcon, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { useApiChange } from '../../api/use-api.ts'
import { confirmAction, notifyResult } from '../../parts/confirm-action.tsx'
import { describeOutcome } from './send-test.ts'
import type { Webhook } from './webhook-texts.ts'

interface WebhookActionsProps {
  projectId: string
  webhook: Webhook
  onEdit: (webhook: Webhook) => void
  onSecret: (secret: string) => void
}

const overlapSeconds = 86_400

/** The actions of one webhook. */
export function WebhookActions({ projectId, webhook, onEdit, onSecret }: WebhookActionsProps) {
  const test = useApiChange('POST /api/v1/webhooks/{id}/test', ['GET /api/v1/webhooks/{id}/deliveries'])
  const rotate = useApiChange('POST /api/v1/webhooks/{id}/rotate-secret', ['GET /api/v1/webhooks'])
  const remove = useApiChange('DELETE /api/v1/webhooks/{id}', ['GET /api/v1/webhooks'])
  const input = { params: { id: webhook.id }, query: { project_id: projectId } }
  const [event = 'threat_detected'] = webhook.events
  const askRotate = () =>
    confirmAction({
      title: 'Rotate the signing secret?',
      consequence:
        'For a day deliveries are signed with both secrets, so that the receiver can switch. Then the old one expires.',
      confirm: 'Rotate secret',
      isDangerous: false,
      action: async () =>
        onSecret((await rotate.mutateAsync({ ...input, body: { overlap_seconds: overlapSeconds } })).secret),
      done: 'The new secret is shown above the list.',
    })
  const askRemove = () =>
    confirmAction({
      title: 'Delete this webhook?',
      consequence: `${webhook.url} gets no more events, and its delivery log is deleted.`,
      confirm: 'Delete',
      action: () => remove.mutateAsync(input),
      done: 'The webhook is deleted.',
    })
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" aria-label={`Actions for ${webhook.url}`}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onEdit(webhook)}>Edit</Menu.Item>
        <Menu.Item
          onClick={() =>
            void notifyResult(
              test
                .mutateAsync({ ...input, body: { event } })
                .then(({ delivery_id }) => describeOutcome(input, delivery_id)),
              (outcome) => outcome,
            )
          }
        >
          Send Test Event
        </Menu.Item>
        <Menu.Item onClick={askRotate}>Rotate secret</Menu.Item>
        <Menu.Item color="red" onClick={askRemove}>
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
