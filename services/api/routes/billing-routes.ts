import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { tierSchema } from '#schemas/tiers.ts'
import { idField } from '#services/ingest/http/fields.ts'
import { route, type Route } from '#services/ingest/http/route.ts'
import { found } from '../http/not-found.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { findSubscription } from '../stores/subscription-store.ts'

/** What a project pays for, and how much of it is used. */
export function billingRoutes({ databases, clock }: { databases: ProjectDatabases; clock: Clock }): Route[] {
  return [
    route({
      access: 'read',
      tag: 'Billing',
      method: 'get',
      path: '/api/billing/subscription',
      summary: 'Tier and usage of the project in this period.',
      query: z.strictObject({ project_id: idField('project').optional() }),
      reply: {
        status: 200,
        description: 'The subscription.',
        schema: z.object({
          project_id: z.string(),
          tier: tierSchema,
          limit: z.number().int().nullable().describe('Requests a period; null: unlimited.'),
          requests_this_period: z.number().int(),
          period_start: z.iso.datetime(),
          period_reset_at: z.iso.datetime(),
          status: z.string(),
        }),
      },
      problems: { 404: 'There is no such project.' },
      async handle({ principal, query }) {
        const database = databases.ofOne(principal, query.project_id)
        const subscription = await findSubscription(database, clock.now())
        return { json: found(subscription, 'project', database.scope.projectId) }
      },
    }),
  ]
}
