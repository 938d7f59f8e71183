import { z } from 'zod'
import { eventNames, selectableEvents } from '#schemas/event-raised.ts'
import { newId } from '#schemas/ids.ts'
import { deliveryId } from '#schemas/webhook-delivery.ts'
import { route, type Route } from '#http/route.ts'
import { found } from '#http/problem.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import { createDeliveryStore, deliveryStatuses } from '../stores/delivery-store.ts'
import { raiseForWebhook } from '../stores/outbox-store.ts'
import { findReceiver } from '../stores/webhook-store.ts'
import { testEventData } from '../webhooks/test-event.ts'
import { replayRoutes, type ReplayRoutesOptions } from './replay-routes.ts'
import { projectQuery, webhookParams } from './webhook-routes.ts'

export const deliverySchema = z.object({
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
  can_be_replayed: z
    .boolean()
    .describe(
      'Whether a replay is possible: the delivery has ended or is abandoned, and the webhook is enabled.',
    ),
  created_at: z.iso.datetime(),
  delivered_at: z.iso.datetime().nullable(),
})

const common = { access: 'all', tag: 'Webhooks', query: projectQuery, params: webhookParams } as const

interface DeliveryRoutesOptions extends ReplayRoutesOptions {
  dashboardUrl: string
}

/** Deliveries of a webhook, replays, and test events. */
export function deliveryRoutes(options: DeliveryRoutesOptions): Route[] {
  return [testRoute(options), listRoute(options), ...replayRoutes(options)]
}

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
      description: 'It is queued; the delivery log shows the outcome.',
      schema: z.object({ delivery_id: z.string() }),
    },
    problems: { 404: 'There is no such webhook.' },
    async handle({ principal, params, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const { projectId } = database.scope
      found(await findReceiver(database, params.id), 'webhook', params.id)
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
      // A list with rows proves that the webhook exists.
      if (items.length === 0) found(await findReceiver(database, params.id), 'webhook', params.id)
      return { json: envelope(paging, items, counted) }
    },
  })
}
