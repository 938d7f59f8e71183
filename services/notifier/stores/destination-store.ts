import type pg from 'pg'
import { query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'
import type { DestinationKind } from '#schemas/destinations.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { Webhook } from './webhook-rows.ts'

export interface DestinationStore {
  /**
   * Whether an attempt may be made now: undefined, and it counts for this minute. Otherwise the time (Unix
   * milliseconds) from which to ask again: an earlier event of the same finding or rule is still under way,
   * or the destination has had its events of this minute.
   */
  admit(delivery: WebhookDelivery, webhook: Webhook): Promise<number | undefined>
}

/** Where the order of events matters: an incident that is triggered after it was resolved stays open. */
const ordered: ReadonlySet<DestinationKind> = new Set(['pagerduty', 'jira'])

/** Until an earlier event is asked for again. */
const orderWaitMs = 5_000

const findEarlier = `
  select 1 from webhook_deliveries d
  where d.webhook_id = $1 and d.status in ('pending', 'retrying') and d.id <> $2
    and (d.event_created_at, d.event_id) < ($3, $4)
    and coalesce(substring(convert_from(d.data, 'UTF8') from '"finding_id":"([a-z0-9_]+)"'),
      substring(convert_from(d.data, 'UTF8') from '"rule_id":"([a-z0-9_]+)"')) = $5
  limit 1`

/** One statement for all notifiers, so that together they keep to the limit. No row: the minute is full. */
const countOne = `
  with gone as (delete from destination_minutes where webhook_id = $1 and minute < now() - interval '10 minutes')
  insert into destination_minutes as counted (webhook_id, minute, sent)
  values ($1, date_trunc('minute', now()), 1)
  on conflict (webhook_id, minute) do update set sent = counted.sent + 1 where counted.sent < $2
  returning sent`

export function createDestinationStore(pool: pg.Pool, now: () => number): DestinationStore {
  return {
    async admit(delivery, webhook) {
      const key = problemOf(delivery)
      if (ordered.has(webhook.kind) && key !== undefined) {
        const { id, created_at: createdAt } = delivery.event
        const values = [
          idToUuid(webhook.id),
          idToUuid(delivery.delivery_id),
          new Date(createdAt),
          idToUuid(id),
          key,
        ]
        const { rows } = await query(pool, findEarlier, values)
        if (rows.length > 0) return now() + orderWaitMs
      }
      if (webhook.maxPerMinute === null) return undefined
      const { rows } = await query(pool, countOne, [idToUuid(webhook.id), webhook.maxPerMinute])
      return rows.length > 0 ? undefined : Math.ceil((now() + 1) / 60_000) * 60_000
    },
  }
}

/** The finding or rule of an event; undefined: none. */
function problemOf({ event: { data } }: WebhookDelivery): string | undefined {
  const text = data.toString('utf8')
  return (/"finding_id":"([a-z0-9_]+)"/.exec(text) ?? /"rule_id":"([a-z0-9_]+)"/.exec(text))?.[1]
}
