import { z } from 'zod'
import { threatEventId } from '#schemas/threat-event-id.ts'
import { idField } from '#http/fields.ts'
import { route, type Route } from '#http/route.ts'
import { taggedJson } from '#http/entity-tag.ts'
import { notFound } from '#http/problem.ts'
import { createDeliveryStore } from '../stores/delivery-store.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { createRequestStore } from '../stores/request-store.ts'
import { findUnsafeScores } from '../stores/score-store.ts'
import { deliverySchema } from './delivery-routes.ts'

const requestDeliveriesSchema = deliverySchema.omit({ attempts: true }).extend({
  webhook_host: z.string().describe('The host of its URL, whose path may be secret.'),
  scorer_name: z.string().describe("The scorer of the event's finding."),
  error: z.string().nullable().describe('Of the last attempt; null: delivered, or not attempted.'),
})

/** Who was told that a call is unsafe. */
export function requestDeliveryRoutes({ databases }: { databases: ProjectDatabases }): Route[] {
  return [
    route({
      access: 'read',
      tag: 'Requests',
      method: 'get',
      path: '/api/requests/{id}/deliveries',
      summary: 'The `threat_detected` events of a request and their deliveries, by webhook.',
      params: z.object({ id: idField('request') }),
      query: z.strictObject({ project_id: idField('project').optional() }),
      polled: true,
      reply: {
        status: 200,
        description: 'Deliveries to existing webhooks, oldest first, as long as the delivery log is kept.',
        schema: z.object({ items: z.array(requestDeliveriesSchema) }),
      },
      problems: { 404: 'There is no such request.' },
      async handle({ principal, params: { id }, query }) {
        const database = databases.ofOne(principal, query.project_id)
        const [request] = await createRequestStore(database).find(id)
        if (request === undefined) throw notFound('request', id)
        const scores = await findUnsafeScores(database, id)
        const about = { project_id: database.scope.projectId, request_id: id }
        const scorers = new Map(
          scores.map((score) => [threatEventId({ ...about, score_id: score.id }), score.scorer_name]),
        )
        const deliveries = await createDeliveryStore(database).ofEvents([...scorers.keys()])
        return taggedJson({
          items: deliveries.map(({ attempts, ...delivery }) => ({
            ...delivery,
            scorer_name: scorers.get(delivery.event_id) ?? '',
            error: delivery.status === 'delivered' ? null : (attempts.at(-1)?.error ?? null),
          })),
        })
      },
    }),
  ]
}
