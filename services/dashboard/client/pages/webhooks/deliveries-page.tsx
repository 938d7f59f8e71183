import { Badge, Button, Code, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { useState } from 'react'
import type { Item } from '../../api/call-api.ts'
import { useApiChange, useApiPages } from '../../api/use-api.ts'
import { usePathText, useSetTexts, useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { formatCount, formatDuration } from '../../formats/format-number.ts'
import { sayHowItWent } from '../../parts/ask-first.tsx'
import { LoadedPages } from '../../parts/loaded-pages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { ReplayRange } from './replay-range.tsx'

type Delivery = Item<'GET /api/v1/webhooks/{id}/deliveries'>
const statuses = ['all', 'pending', 'retrying', 'delivered', 'failed'] as const
const colors = { pending: 'gray', retrying: 'yellow', delivered: 'green', failed: 'red' } as const

/** What was sent to a webhook, attempt by attempt, and what it answered. */
export function DeliveriesPage() {
  const id = usePathText('id')
  const project = useProject()
  const { status = 'all' } = useTexts()
  const setTexts = useSetTexts()
  const chosen = statuses.find((each) => each !== 'all' && each === status) as Delivery['status'] | undefined
  const pages = useApiPages('GET /api/v1/webhooks/{id}/deliveries', {
    params: { id },
    query: { project_id: project.id, page_size: '50', status: chosen },
  })
  return (
    <>
      <PageHead title="Delivery log">
        <SegmentedControl
          aria-label="Status"
          size="xs"
          data={[...statuses]}
          value={chosen ?? 'all'}
          onChange={(value) => setTexts({ status: value === 'all' ? undefined : value })}
        />
        <ReplayRange projectId={project.id} webhookId={id} />
      </PageHead>
      <LoadedPages<'GET /api/v1/webhooks/{id}/deliveries'>
        query={pages}
        empty={
          <Nothing title="Nothing was sent">Send Test Event in the list of webhooks sends something.</Nothing>
        }
      >
        {(rows) => <DeliveryTable deliveries={rows} projectId={project.id} />}
      </LoadedPages>
    </>
  )
}

function DeliveryTable({ deliveries, projectId }: { deliveries: readonly Delivery[]; projectId: string }) {
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table aria-label="Deliveries">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Event</Table.Th>
            <Table.Th>Raised</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th ta="right">Attempts</Table.Th>
            <Table.Th>Delivered</Table.Th>
            <Table.Th>Actions</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {deliveries.map((delivery) => (
            <DeliveryRows key={delivery.id} delivery={delivery} projectId={projectId} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function DeliveryRows({ delivery, projectId }: { delivery: Delivery; projectId: string }) {
  const [isOpen, setIsOpen] = useState(false)
  const replay = useApiChange('POST /api/v1/webhooks/{id}/deliveries/{delivery_id}/replay', [
    'GET /api/v1/webhooks/{id}/deliveries',
  ])
  const send = () =>
    sayHowItWent(
      replay.mutateAsync({
        params: { id: delivery.webhook_id, delivery_id: delivery.id },
        query: { project_id: projectId },
      }),
      'It is sent again, under the same id.',
    )
  return (
    <>
      <Table.Tr>
        <Table.Td>{delivery.event}</Table.Td>
        <Table.Td>
          <TimeText at={delivery.created_at} />
        </Table.Td>
        <Table.Td>
          <Badge color={colors[delivery.status]} variant="light" miw="max-content">
            {delivery.status}
          </Badge>
        </Table.Td>
        <Table.Td ta="right">{formatCount(delivery.attempt_count)}</Table.Td>
        <Table.Td>
          <TimeText at={delivery.delivered_at} />
        </Table.Td>
        <Table.Td>
          <Button.Group>
            <Button
              size="compact-sm"
              variant="default"
              aria-expanded={isOpen}
              onClick={() => setIsOpen(!isOpen)}
            >
              Attempts
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              loading={replay.isPending}
              onClick={() => void send()}
            >
              Send again
            </Button>
          </Button.Group>
        </Table.Td>
      </Table.Tr>
      {isOpen ? (
        <Table.Tr>
          <Table.Td colSpan={6}>
            <Attempts attempts={delivery.attempts} />
          </Table.Td>
        </Table.Tr>
      ) : null}
    </>
  )
}

function Attempts({ attempts }: { attempts: Delivery['attempts'] }) {
  return (
    <Stack gap="xs">
      {attempts.length === 0 ? <Text size="sm">None yet.</Text> : null}
      {attempts.map(
        ({ number, at, status_code: status, duration_ms: ms, error, response_excerpt: excerpt }) => (
          <Stack key={number} gap={4}>
            <Text size="sm">
              {number}. <TimeText at={at} /> · {status ?? 'no answer'} · {formatDuration(ms)}
              {error === null ? null : (
                <>
                  {' · '}
                  <PlainText text={error} />
                </>
              )}
            </Text>
            {excerpt === null || excerpt === '' ? null : (
              <Code block mah={160}>
                <PlainText text={excerpt} />
              </Code>
            )}
          </Stack>
        ),
      )}
    </Stack>
  )
}
