import { ActionIcon, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { useApiChange } from '../../api/use-api.ts'
import { askFirst, sayHowItWent } from '../../parts/ask-first.tsx'
import { sayOutcome } from './send-test.ts'
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
    askFirst({
      title: 'Make a new signing secret?',
      consequence:
        'For a day deliveries carry the signatures of both secrets, so that the receiver can change over. Then the old one is worthless.',
      confirm: 'Make a new secret',
      isDangerous: false,
      action: async () =>
        onSecret((await rotate.mutateAsync({ ...input, body: { overlap_seconds: overlapSeconds } })).secret),
      done: 'The new secret is shown above the list.',
    })
  const askRemove = () =>
    askFirst({
      title: 'Delete this webhook?',
      consequence: `${webhook.url} is told nothing any more, and its delivery log goes with it.`,
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
        <Menu.Item onClick={() => onEdit(webhook)}>Change</Menu.Item>
        <Menu.Item
          onClick={() =>
            void sayHowItWent(
              test
                .mutateAsync({ ...input, body: { event } })
                .then(({ delivery_id }) => sayOutcome(input, delivery_id)),
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
