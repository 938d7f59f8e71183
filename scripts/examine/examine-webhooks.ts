import type { Client } from 'pg'
import {
  describeFailing,
  failingWebhookOf,
  failingWebhooksSql,
  type FailingWebhook,
} from '#schemas/failing-webhooks.ts'
import { ok, warning, type Finding } from './finding.ts'

/** Whether deliveries fail. A receiver's failure is not ours: a warning. */
export async function examineWebhooks(client: Client): Promise<Finding[]> {
  const { rows } = await client.query<FailingWebhook>(failingWebhooksSql)
  const failing = describeFailing(rows.map(failingWebhookOf))
  if (failing === undefined)
    return [ok('webhooks', 'no webhook failed for half of its deliveries in the last day')]
  return [
    warning(
      'webhooks',
      failing,
      "GET /api/v1/webhooks/{id}/deliveries says what its receiver answers: tell the webhook's owner",
    ),
  ]
}
