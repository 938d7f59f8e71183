import type { EventName } from '#schemas/event-raised.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { deliveryId } from '#schemas/webhook-delivery.ts'
import type { Counted, Paging } from '../http/paging.ts'
import { Conditions } from './conditions.ts'
import { mayBeReplayed } from './delivery-replay.ts'
import { listRows } from './list-rows.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

export const deliveryStatuses = ['pending', 'retrying', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

export interface Attempt {
  number: number
  at: string
  status_code: number | null
  duration_ms: number | null
  error: string | null
  /** The first 2 kB of the answer. */
  response_excerpt: string | null
}

export interface Delivery {
  id: string
  webhook_id: string
  event_id: string
  event: EventName
  status: DeliveryStatus
  attempt_count: number
  attempts: Attempt[]
  /** Whether a replay is possible: the webhook is enabled, and the delivery has ended or is abandoned. */
  can_be_replayed: boolean
  created_at: string
  delivered_at: string | null
}

type DeliveryRow = Omit<Delivery, 'attempts' | 'created_at' | 'delivered_at'> & {
  created_at: Date
  delivered_at: Date | null
}

type AttemptRow = Omit<Attempt, 'at' | 'response_excerpt'> & {
  delivery_id: string
  at: Date
  response_excerpt: Buffer | null
}

const columns = `d.id, d.webhook_id, d.event_id, d.event, d.status, d.attempt_count, d.created_at, d.delivered_at,
  ${mayBeReplayed} as can_be_replayed`

/** The delivery log of one project's webhooks. */
export function createDeliveryStore(database: ProjectDatabase<OneProject>) {
  const attemptsOf = async (rows: readonly DeliveryRow[]): Promise<Map<string, Attempt[]>> => {
    if (rows.length === 0) return new Map()
    const attempts = await database.query<AttemptRow>(
      `select a.delivery_id, a.number, a.at, a.status_code, a.duration_ms, a.error, a.response_excerpt
       from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id
       where :scope(d) and a.delivery_id = any($2::uuid[]) order by a.delivery_id, a.number`,
      [rows.map(({ id }) => id)],
    )
    const groups = Map.groupBy(attempts, ({ delivery_id }) => delivery_id)
    return new Map([...groups].map(([id, group]) => [id, group.map(attemptOf)]))
  }
  return {
    /** Newest first. */
    async list(
      webhookId: string,
      status: DeliveryStatus | undefined,
      paging: Paging,
    ): Promise<{ items: Delivery[]; counted: Counted }> {
      const conditions = new Conditions()
      const id = `${conditions.bind(idToUuid(webhookId))}::uuid`
      conditions.add(`d.webhook_id = ${id}`)
      // Deliveries of a deleted webhook remain until the sink deletes them.
      conditions.add(`exists (select from webhooks w where :scope(w) and w.id = ${id})`)
      conditions.equal('d.status', status)
      // Redundant, but indexed: few of many have failed.
      if (status === 'failed' || status === 'retrying') conditions.add('d.has_failed')
      const { rows, counted } = await listRows<DeliveryRow>(database, paging, {
        columns,
        from: 'webhook_deliveries d',
        alias: 'd',
        timeColumn: 'd.created_at',
        idColumn: 'd.id',
        // A delivery's id has the time of its event.
        timeOf: (id) => `(select c.created_at from webhook_deliveries c where c.id = ${id})`,
        conditions,
      })
      const attempts = await attemptsOf(rows)
      return { items: rows.map((row) => deliveryOf(row, attempts.get(row.id) ?? [])), counted }
    },

    /** The deliveries of these events to existing webhooks, oldest first. */
    async ofEvents(eventIds: readonly string[]): Promise<(Delivery & { webhook_host: string })[]> {
      const webhooks = await database.query<{ id: string; url: string }>(
        'select w.id, w.url from webhooks w where :scope(w)',
      )
      const { projectId } = database.scope
      const ids = webhooks.flatMap((webhook) =>
        eventIds.map((id) =>
          idToUuid(deliveryId({ id, project_id: projectId }, idFromUuid('webhook', webhook.id))),
        ),
      )
      const rows = await database.query<DeliveryRow>(
        `select ${columns} from webhook_deliveries d where :scope(d) and d.id = any($2::uuid[]) order by d.created_at, d.id`,
        [ids],
      )
      const attempts = await attemptsOf(rows)
      const hosts = new Map(webhooks.map(({ id, url }) => [idFromUuid('webhook', id), new URL(url).host]))
      return rows
        .map((row) => deliveryOf(row, attempts.get(row.id) ?? []))
        .map((delivery) => ({ ...delivery, webhook_host: hosts.get(delivery.webhook_id) ?? '' }))
    },
  }
}

function deliveryOf(row: DeliveryRow, attempts: Attempt[]): Delivery {
  return {
    id: idFromUuid('delivery', row.id),
    webhook_id: idFromUuid('webhook', row.webhook_id),
    event_id: idFromUuid('event', row.event_id),
    event: row.event,
    status: row.status,
    attempt_count: row.attempt_count,
    attempts,
    can_be_replayed: row.can_be_replayed,
    created_at: row.created_at.toISOString(),
    delivered_at: row.delivered_at?.toISOString() ?? null,
  }
}

function attemptOf(row: AttemptRow): Attempt {
  return {
    number: row.number,
    at: row.at.toISOString(),
    status_code: row.status_code,
    duration_ms: row.duration_ms,
    error: row.error,
    response_excerpt: row.response_excerpt?.toString('utf8') ?? null,
  }
}
