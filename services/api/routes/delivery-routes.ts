import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { SluiceError } from '#runtime/errors.ts'
import type { Encoder, Producer } from '#runtime/kafka/records.ts'
import { eventNames, selectableEvents } from '#schemas/event-raised.ts'
import { newId } from '#schemas/ids.ts'
import { deliveryId, type WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { idField, timeField } from '#services/ingest/http/fields.ts'
import { invalidInput, Problem, unavailable } from '#services/ingest/http/problem.ts'
import { route, type Route } from '#services/ingest/http/route.ts'
import { found } from '../http/not-found.ts'
import { envelope, listOf, pagingFields, readCursor, readPaging, writeCursor } from '../http/paging.ts'
import { noteReplays, planFailedReplays, planReplay } from '../stores/delivery-replay.ts'
import { createDeliveryStore, deliveryStatuses } from '../stores/delivery-store.ts'
import { raiseForWebhook } from '../stores/outbox-store.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { findWebhook, type Webhook } from '../stores/webhook-store.ts'
import { testEventData } from '../webhooks/test-event.ts'
import { projectQuery, webhookParams } from './webhook-routes.ts'

const deliverySchema = z.object({
  id: z.string(),
  webhook_id: z.string(),
  event_id: z.string(),
  event: z.enum(eventNames),
  status: z.enum(deliveryStatuses),
  attempt_count: z.number().int(),
  attempts: z.array(
    z.object({
      number: z.number().int(),
      at: z.iso.datetime(),
      status_code: z.number().int().nullable(),
      duration_ms: z.number().nullable(),
      error: z.string().nullable(),
      response_excerpt: z.string().nullable().describe("The first 2 kB of the receiver's answer."),
    }),
  ),
  created_at: z.iso.datetime(),
  delivered_at: z.iso.datetime().nullable(),
})
const acceptedSchema = z.object({ delivery_id: z.string() })

export interface DeliveryRoutesOptions {
  databases: ProjectDatabases
  clock: Clock
  dashboardUrl: string
  producer: Producer
  due: { name: string; encoder: Encoder<WebhookDelivery> }
}

/** What was delivered to a webhook, again on request, and test events. */
export function deliveryRoutes(options: DeliveryRoutesOptions): Route[] {
  return [testRoute(options), listRoute(options), replayFailedRoute(options), replayRoute(options)]
}

const common = { access: 'all', tag: 'Webhooks', query: projectQuery, params: webhookParams } as const

function testRoute({ databases, clock, dashboardUrl }: DeliveryRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/v1/webhooks/{id}/test',
    summary:
      'Send a test event, signed with the real secret, whatever the webhook selects. Its `data.test` is true.',
    body: z.strictObject({ event: z.enum(selectableEvents).default('threat_detected') }).prefault({}),
    reply: {
      status: 202,
      description: 'It is on its way; the delivery log shows what becomes of it.',
      schema: acceptedSchema,
    },
    problems: { 404: 'There is no such webhook.' },
    async handle({ principal, params, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const { projectId } = database.scope
      found(await findWebhook(database, params.id), 'webhook', params.id)
      const nowMs = clock.now()
      const id = newId('event', nowMs)
      const data = testEventData(body.event, { projectId, dashboardUrl, nowMs })
      await raiseForWebhook(database, { id, event: body.event, data, webhookId: params.id }, nowMs)
      return { status: 202, json: { delivery_id: deliveryId({ id, project_id: projectId }, params.id) } }
    },
  })
}

function listRoute({ databases }: DeliveryRoutesOptions): Route {
  return route({
    ...common,
    access: 'read',
    method: 'get',
    path: '/api/v1/webhooks/{id}/deliveries',
    summary: 'The delivery log of a webhook, newest first.',
    query: projectQuery.extend({ ...pagingFields, status: z.enum(deliveryStatuses).optional() }),
    reply: { status: 200, description: 'Deliveries with their attempts.', schema: listOf(deliverySchema) },
    problems: { 404: 'There is no such webhook.' },
    async handle({ principal, params, query }) {
      const paging = readPaging(query, 'delivery')
      const database = databases.ofOne(principal, query.project_id)
      const { items, counted } = await createDeliveryStore(database).list(params.id, query.status, paging)
      // Deliveries go with their webhook: only where there are none may there be no webhook.
      if (items.length === 0) found(await findWebhook(database, params.id), 'webhook', params.id)
      return { json: envelope(paging, items, counted) }
    },
  })
}

function replayRoute({ databases, clock, producer, due }: DeliveryRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/v1/webhooks/{id}/deliveries/{delivery_id}/replay',
    summary: 'Deliver again: a new round of up to four attempts with the same event.',
    params: webhookParams.extend({ delivery_id: idField('delivery') }),
    reply: { status: 202, description: 'It is on its way.', schema: acceptedSchema },
    problems: {
      404: 'There is no such delivery.',
      409: 'It is still under way, or the webhook is disabled.',
    },
    async handle({ principal, params, query }) {
      const database = databases.ofOne(principal, query.project_id)
      const known = await createDeliveryStore(database).find(params.id, params.delivery_id)
      const delivery = found(known, 'delivery', params.delivery_id)
      refuseDisabled(found(await findWebhook(database, params.id), 'webhook', params.id))
      const round = await planReplay(database, params.id, params.delivery_id, clock.now())
      if (round === undefined) {
        throw new Problem(
          409,
          'DELIVERY_UNDER_WAY',
          `delivery ${delivery.id} is ${delivery.status}; its attempts go on`,
        )
      }
      const entry = { action: 'webhook.deliveries_replayed', subject: params.id, detail: { count: 1 } }
      await database.note(entry, clock.now())
      await queue([round], producer, due)
      // After it was queued: a crash before would show a round that nobody makes.
      await noteReplays(database, [round])
      return { status: 202, json: { delivery_id: delivery.id } }
    },
  })
}

const maxReplayed = 500

function replayFailedRoute({ databases, clock, producer, due }: DeliveryRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/v1/webhooks/{id}/deliveries/replay',
    summary: `Deliver again what has failed in a time range, oldest first, ${maxReplayed} at most: ask again with next_cursor until it is null.`,
    body: z.strictObject({
      start: timeField.describe('Of deliveries made from then on.'),
      end: timeField.describe('Before then.'),
      cursor: z
        .string()
        .max(200)
        .optional()
        .describe(
          '`next_cursor` of the answer before: what fails again meanwhile is not delivered once more.',
        ),
    }),
    reply: {
      status: 202,
      description: 'They are on their way.',
      schema: z.object({
        replayed: z.number().int(),
        has_more: z.boolean(),
        next_cursor: z.string().nullable(),
      }),
    },
    problems: { 404: 'There is no such webhook.', 409: 'The webhook is disabled.' },
    async handle({ principal, params, query, body }) {
      if (body.start > body.end) throw invalidInput([{ path: 'end', message: 'is before start' }])
      const after = body.cursor === undefined ? null : readCursor(body.cursor, 'delivery')
      const database = databases.ofOne(principal, query.project_id)
      refuseDisabled(found(await findWebhook(database, params.id), 'webhook', params.id))
      const range = { startMs: body.start, endMs: body.end, after, limit: maxReplayed + 1 }
      const failed = await planFailedReplays(database, params.id, range, clock.now())
      const rounds = failed.slice(0, maxReplayed)
      const detail = { count: rounds.length }
      await database.note({ action: 'webhook.deliveries_replayed', subject: params.id, detail }, clock.now())
      await queue(rounds, producer, due)
      await noteReplays(database, rounds)
      const has_more = failed.length > rounds.length
      const last = rounds.at(-1)
      const next_cursor = has_more && last !== undefined ? writeCursor(last.delivery_id) : null
      return { status: 202, json: { replayed: rounds.length, has_more, next_cursor } }
    },
  })
}

/** Each of its rounds would fail at once, and whoever asks until nothing has failed would ask for ever. */
function refuseDisabled({ id, enabled }: Webhook): void {
  if (!enabled) throw new Problem(409, 'WEBHOOK_DISABLED', `webhook ${id} is disabled; enable it first`)
}

async function queue(
  rounds: readonly WebhookDelivery[],
  producer: Producer,
  due: DeliveryRoutesOptions['due'],
): Promise<void> {
  try {
    const records = rounds.map(async (round) => {
      const value = await due.encoder.encode(round)
      return { topic: due.name, key: round.webhook_id, value }
    })
    await producer.send(await Promise.all(records))
  } catch (error) {
    if (!(error instanceof SluiceError) || error.retry === 'never') throw error
    throw unavailable('QUEUE_UNAVAILABLE', 'deliveries cannot be queued at the moment', error)
  }
}
