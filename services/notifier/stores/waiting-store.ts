import type pg from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { deliveredEventOf, type DeliveredEvent } from '#schemas/stored-event.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { endpointKinds, type PermitsLeft } from '../limits/endpoint-limiter.ts'
import { createBatcher } from './batcher.ts'
import { maxBatched } from './delivery-store.ts'
import { writeRows } from './write-rows.ts'

/** Attempts that wait for a permit of their endpoint, or for the end of another notifier's claim. */
export interface WaitingStore {
  /** Writes that `delivery.attempt` waits. */
  add(delivery: WebhookDelivery, due: WaitingDue): Promise<void>
  /**
   * Takes due attempts for which there are `permits`, in the order of shared-permits.ts: the project with the
   * fewest first, then its webhooks in turn, the least recently noted first. They fall due again after
   * `leaseMs` unless removed.
   */
  take(options: TakeOptions): Promise<WebhookDelivery[]>
  /** Call once the attempt's result is stored and published. */
  remove(delivery: WebhookDelivery): Promise<void>
  /** Makes a taken attempt due again at that time (Unix milliseconds). */
  putBack(delivery: WebhookDelivery, atMs: number): Promise<void>
}

/** By the database's clock: from now, or at a time that the database gave (Unix milliseconds). */
export type WaitingDue = { inMs: number } | { atMs: number }

export interface TakeOptions {
  permits: PermitsLeft
  /** Limit for slow endpoints, whatever permits are left. */
  maxSlow: number
  leaseMs: number
}

const addWaiting = `
  insert into webhook_waiting as waiting (delivery_id, webhook_id, attempt, first_attempt, last_error, due_at)
  select delivery.id, delivery.webhook_id, asked.attempt, asked.first_attempt, asked.last_error,
    coalesce(asked.due_at, now() + asked.in_ms * interval '1 millisecond')
  from unnest($1::uuid[], $2::int[], $3::int[], $4::text[], $5::timestamptz[], $6::float8[])
    as asked (id, attempt, first_attempt, last_error, due_at, in_ms)
  join webhook_deliveries delivery on delivery.id = asked.id
  order by delivery.id
  on conflict (delivery_id) do update set attempt = excluded.attempt, first_attempt = excluded.first_attempt,
    last_error = excluded.last_error, due_at = excluded.due_at
    where excluded.attempt > waiting.attempt`

const removeWaiting = `
  delete from webhook_waiting waiting using unnest($1::uuid[], $2::int[]) as ended (id, attempt)
  where waiting.delivery_id = ended.id and waiting.attempt = ended.attempt`

// One index scan for each endpoint: the recursive walk skips from each distinct endpoint to the next. A
// permit for a project lowers its lead by two and those of the others by one. In this order the lead that is
// left falls from row to row, so all taken rows come before all others.
const takeWaiting = `
  with recursive endpoint (webhook_id) as (
    (select webhook_id from webhook_waiting order by webhook_id limit 1)
    union all
    select (select w.webhook_id from webhook_waiting w where w.webhook_id > endpoint.webhook_id order by w.webhook_id limit 1)
    from endpoint where endpoint.webhook_id is not null
  ),
  head as (
    select head.delivery_id, head.due_at, webhook.project_id, coalesce(known.kind, 'unknown') as kind,
      row_number() over (partition by webhook.id order by head.due_at) as turn, coalesce(known.noted, 0) as noted
    from endpoint
    join webhooks webhook on webhook.id = endpoint.webhook_id
    left join unnest($1::uuid[], $2::text[], $3::int[]) with ordinality as known (webhook_id, kind, permits, noted)
      on known.webhook_id = webhook.id
    cross join lateral (
      select w.delivery_id, w.due_at from webhook_waiting w
      where w.webhook_id = webhook.id and w.due_at <= now()
      order by w.due_at limit case known.kind when 'slow' then least(known.permits, $10) else coalesce(known.permits, 1) end
      for update skip locked
    ) head
  ),
  ranked as (
    select head.*, row_number() over (partition by kind, project_id order by turn, noted, due_at) as project_turn from head
  ),
  ordered as (
    select ranked.delivery_id, ranked.kind, coalesce(busy.lead, permits.left_of_kind) - project_turn as lead_left,
      row_number() over (partition by kind order by project_turn - coalesce(busy.lead, permits.left_of_kind), due_at) as rank
    from ranked
    join unnest($4::text[], $5::int[]) as permits (kind, left_of_kind) using (kind)
    left join unnest($6::uuid[], $7::text[], $8::int[]) as busy (project_id, kind, lead) using (project_id, kind)
  ),
  due as (select delivery_id from ordered where rank <= lead_left + 1 and (kind <> 'slow' or rank <= $10))
  update webhook_waiting waiting set due_at = now() + $9 * interval '1 millisecond'
  from webhook_deliveries d
  where waiting.delivery_id in (select delivery_id from due) and d.id = waiting.delivery_id
  returning waiting.delivery_id, waiting.attempt, waiting.first_attempt, waiting.last_error, d.webhook_id, d.project_id,
    d.event_id, d.event, d.event_created_at, d.data, d.content_codec, d.content_key_id, d.content_data, d.content_id`

const batched = { maxItems: maxBatched }

export function createWaitingStore(pool: pg.Pool): WaitingStore {
  const add = createBatcher<{ delivery: WebhookDelivery; due: WaitingDue }, undefined>({
    ...batched,
    keyOf: ({ delivery }) => delivery.delivery_id,
    async run(asked) {
      const column = <T>(read: (delivery: WebhookDelivery) => T): T[] =>
        asked.map(({ delivery }) => read(delivery))
      await writeRows(pool, addWaiting, [
        column(({ delivery_id: id }) => idToUuid(id)),
        column(({ attempt }) => attempt),
        column(({ first_attempt: first }) => first),
        column(({ last_error: error }) => error),
        asked.map(({ due }) => ('atMs' in due ? new Date(due.atMs) : null)),
        asked.map(({ due }) => ('inMs' in due ? due.inMs : null)),
      ])
      return asked.map(() => undefined)
    },
  })
  const remove = createBatcher<WebhookDelivery, undefined>({
    ...batched,
    async run(ended) {
      const ids = ended.map(({ delivery_id: id }) => idToUuid(id))
      await query(pool, removeWaiting, [ids, ended.map(({ attempt }) => attempt)])
      return ended.map(() => undefined)
    },
  })
  return {
    add: (delivery, due) => add({ delivery, due }),
    remove,
    async take({ permits, maxSlow, leaseMs }) {
      const { endpoints, all, leads } = permits
      const busy = [...leads].flatMap(([projectId, lead]) =>
        endpointKinds.map((kind) => ({ projectId, kind, lead: lead[kind] })),
      )
      const values = [
        endpoints.map(({ webhookId }) => idToUuid(webhookId)),
        endpoints.map(({ kind }) => kind),
        endpoints.map(({ permits }) => permits),
        endpointKinds,
        endpointKinds.map((kind) => all[kind]),
        busy.map(({ projectId }) => idToUuid(projectId)),
        busy.map(({ kind }) => kind),
        busy.map(({ lead }) => lead),
        leaseMs,
        maxSlow,
      ]
      const { rows } = await query<WaitingRow>(pool, takeWaiting, values)
      return rows.map(deliveryOf)
    },
    async putBack(delivery, atMs) {
      const values = [idToUuid(delivery.delivery_id), delivery.attempt, new Date(atMs)]
      await query(
        pool,
        'update webhook_waiting set due_at = $3 where delivery_id = $1 and attempt = $2',
        values,
      )
    },
  }
}

interface WaitingRow extends DeliveredEvent {
  delivery_id: string
  attempt: number
  first_attempt: number
  last_error: string | null
  webhook_id: string
}

function deliveryOf(row: WaitingRow): WebhookDelivery {
  return {
    delivery_id: idFromUuid('delivery', row.delivery_id),
    webhook_id: idFromUuid('webhook', row.webhook_id),
    project_id: idFromUuid('project', row.project_id),
    attempt: row.attempt,
    first_attempt: row.first_attempt,
    due_at: 0,
    last_error: row.last_error,
    event: deliveredEventOf(row),
  }
}
