import { Card, Group, Text, Title } from '@mantine/core'
import type { Answer } from '../../api/call-api.ts'
import { useMe, type Role } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { DeliveryBadge } from '../../parts/delivery-badge.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import type { RequestDetail } from './request-detail.ts'

type Delivery = Answer<'GET /api/requests/{id}/deliveries'>['items'][number]

interface WebhookDeliveriesProps {
  request: RequestDetail
  isUnsafe: boolean
}

/** The webhooks notified that the call is unsafe, also by verdicts since replaced, and their deliveries. */
export function WebhookDeliveries({ request: { id, project_id }, isUnsafe }: WebhookDeliveriesProps) {
  const role = useMe().data?.role ?? 'viewer'
  const input = { params: { id }, query: { project_id } }
  const { data } = useApi('GET /api/requests/{id}/deliveries', input, {
    ...(isUnsafe ? { pollMs: 10_000 } : {}),
    enabled: mayVisit(role, { role: 'analyst' }),
  })
  if (data === undefined || (data.items.length === 0 && !isUnsafe)) return null
  return (
    <>
      <Title order={2}>Webhook deliveries</Title>
      {data.items.length === 0 ? (
        <Text size="sm" c="dimmed">
          None: no webhook matches, the event is pending, or its log has expired.
        </Text>
      ) : null}
      {data.items.map((delivery) => (
        <ToldCard key={delivery.id} delivery={delivery} role={role} />
      ))}
    </>
  )
}

function ToldCard({ delivery, role }: { delivery: Delivery; role: Role }) {
  const { webhook_host: host } = delivery
  return (
    <Card withBorder padding="sm" component="section" aria-label={`${host}, ${delivery.scorer_name}`}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {mayVisit(role, { role: 'admin' }) ? (
            <PageLink to="/settings/webhooks/$id/deliveries" params={{ id: delivery.webhook_id }}>
              <PlainText text={host} />
            </PageLink>
          ) : (
            <PlainText text={host} />
          )}
        </Text>
        <DeliveryBadge status={delivery.status} />
      </Group>
      <Text size="xs" c="dimmed">
        <PlainText text={delivery.scorer_name} />,{' '}
        <TimeText at={delivery.delivered_at ?? delivery.created_at} />
        {delivery.error === null ? null : (
          <>
            {': '}
            <PlainText text={delivery.error} />
          </>
        )}
      </Text>
    </Card>
  )
}
