import { idFromUuid } from './ids.ts'

/** Bound for a webhook's last day. */
const maxRecentDeliveries = 1_000

/**
 * SQL for webhook `w`: the last day's newest attempted deliveries, and how many of them failed or wait for a
 * retry.
 */
export const lastDaySql = `
  select count(*)::integer as deliveries, count(*) filter (where recent.has_failed)::integer as failed from (
    select d.has_failed from webhook_deliveries d
    where d.webhook_id = w.id and d.created_at > now() - interval '1 day' and d.status <> 'pending'
    order by d.created_at desc limit ${maxRecentDeliveries}) recent`

export interface FailingWebhook {
  id: string
  project_id: string
  deliveries: number
  failed: number
}

const maxListed = 50

// Failed deliveries have an index. Deliveries of other webhooks are not counted.
/** SQL for webhooks that failed half or more of the last day's deliveries: what follows the columns. */
export const failingWebhooksFrom = `webhooks w cross join lateral (${lastDaySql}) day
  where (w.enabled or w.disabled_at is not null) and exists (
    select from webhook_deliveries f where f.webhook_id = w.id and f.has_failed and f.created_at > now() - interval '1 day')
    and day.failed * 2 >= day.deliveries`

/** SQL for all of them, most failures first. */
export const failingWebhooksSql = `select w.id, w.project_id, day.deliveries, day.failed from ${failingWebhooksFrom}
  order by day.failed desc, w.id limit ${maxListed}`

/** A row of that statement, as clients know it. */
export function failingWebhookOf(row: FailingWebhook): FailingWebhook {
  return { ...row, id: idFromUuid('webhook', row.id), project_id: idFromUuid('project', row.project_id) }
}

/** Undefined: none fails. */
export function describeFailing(webhooks: readonly FailingWebhook[]): string | undefined {
  const [worst] = webhooks
  if (worst === undefined) return undefined
  const which = `${worst.id} of ${worst.project_id}: ${worst.failed} of ${worst.deliveries} failed`
  const others = webhooks.length === 1 ? '' : `, and ${webhooks.length - 1} more`
  return `in the last day half or more of the deliveries failed to ${which}${others}`
}
