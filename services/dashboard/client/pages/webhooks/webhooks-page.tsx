import { Badge, Button, Group, Stack, Switch, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { rowsIn } from '../../api/call-api.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { notifyResult } from '../../parts/confirm-action.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { PageNumbers } from '../../parts/page-numbers.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { usePersisted } from '../../parts/use-draft.ts'
import { FailureNotes } from './failure-notes.tsx'
import { NewSecret } from './new-secret.tsx'
import { WebhookActions } from './webhook-actions.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { describeFilters, eventNames, type Webhook } from './webhook-texts.ts'

const pageSize = 50

/** Webhooks: events, receivers and results. */
export function WebhooksPage() {
  const project = useProject()
  const { page = '1' } = useTexts()
  const webhooks = useApi(
    'GET /api/v1/webhooks',
    { query: { project_id: project.id, page, page_size: String(pageSize) } },
    { pollMs: 30_000, keepsPrevious: true },
  )
  // 'new', or the one being edited.
  const [edited, setEdited] = usePersisted<Webhook | 'new'>(`webhook.${project.id}`)
  const [secret, setSecret] = useState<string>()
  return (
    <>
      <PageHead title="Webhooks">
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited('new')}>
          Add webhook
        </Button>
      </PageHead>
      {secret === undefined ? null : <NewSecret secret={secret} />}
      {edited === undefined ? null : (
        <WebhookForm
          projectId={project.id}
          webhook={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSecret={setSecret}
        />
      )}
      <Loaded
        query={webhooks}
        empty={{
          when: ({ total }) => total === 0,
          show: <Nothing title="No webhooks yet">A webhook posts each event to an address, signed.</Nothing>,
        }}
      >
        {(answer) => (
          <>
            <WebhookTable
              projectId={project.id}
              webhooks={rowsIn<'GET /api/v1/webhooks'>(answer)}
              onEdit={setEdited}
              onSecret={setSecret}
            />
            <PageNumbers total={answer.total} pageSize={pageSize} />
          </>
        )}
      </Loaded>
    </>
  )
}

interface WebhookTableProps {
  projectId: string
  webhooks: readonly Webhook[]
  onEdit: (webhook: Webhook) => void
  onSecret: (secret: string) => void
}

function WebhookTable({ projectId, webhooks, onEdit, onSecret }: WebhookTableProps) {
  const columns: Column<Webhook>[] = [
    { title: 'Enabled', cell: (webhook) => <EnabledSwitch projectId={projectId} webhook={webhook} /> },
    {
      title: 'To',
      cell: (webhook) => (
        <Stack gap={2}>
          <PageLink to="/settings/webhooks/$id/deliveries" params={{ id: webhook.id }}>
            <PlainText text={webhook.url} />
          </PageLink>
          <FailureNotes of={webhook} />
        </Stack>
      ),
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
      title: 'Filter',
      cell: ({ filters, filter_expression: expression }) => (
        <Stack gap={2}>
          <PlainText text={describeFilters(filters)} />
          {expression === null ? null : (
            <Text size="xs" ff="monospace">
              <PlainText text={expression} />
            </Text>
          )}
        </Stack>
      ),
    },
    {
      title: 'Actions',
      cell: (webhook) => (
        <WebhookActions projectId={projectId} webhook={webhook} onEdit={onEdit} onSecret={onSecret} />
      ),
    },
  ]
  return (
    <RowsTable label="Webhooks" columns={columns} rows={webhooks} keyOf={({ id }) => id} minWidth={860} />
  )
}

function EnabledSwitch({ projectId, webhook }: { projectId: string; webhook: Webhook }) {
  const change = useApiChange('PATCH /api/v1/webhooks/{id}', ['GET /api/v1/webhooks'])
  const toggle = (enabled: boolean) =>
    notifyResult(
      change.mutateAsync({
        params: { id: webhook.id },
        query: { project_id: projectId },
        body: { enabled },
      }),
      enabled ? 'The webhook is enabled.' : 'The webhook is disabled.',
    )
  return (
    <Switch
      checked={webhook.enabled}
      disabled={change.isPending}
      aria-label={`Enable ${webhook.url}`}
      onChange={(event) => void toggle(event.currentTarget.checked)}
    />
  )
}
