import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { tierSchema } from '#schemas/tiers.ts'
import { idField } from '#http/fields.ts'
import { route, type Route } from '#http/route.ts'
import { found } from '#http/problem.ts'
import { findJudgeSpend } from '../stores/judge-spend-store.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { findSubscription } from '../stores/subscription-store.ts'

/** A project's subscription and usage. */
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
    judgeSpendRoute(databases, clock),
  ]
}

function judgeSpendRoute(databases: ProjectDatabases, clock: Clock): Route {
  return route({
    access: 'read',
    tag: 'Billing',
    method: 'get',
    path: '/api/billing/judge-spend',
    summary: 'What the judge has cost the project in this period.',
    query: z.strictObject({ project_id: idField('project').optional() }),
    reply: {
      status: 200,
      description: 'The spend, up to the last settled request to the judge.',
      schema: z.object({
        project_id: z.string(),
        period_start: z.iso.datetime(),
        period_reset_at: z.iso.datetime(),
        cap_usd: z
          .number()
          .nullable()
          .describe("The project's own cap; null: none. The operator's may be lower."),
        spent_usd: z.number(),
        reserved_usd: z.number().describe('Reserved for requests in progress.'),
        requests: z.number().int(),
        prompt_tokens: z.number().int(),
        completion_tokens: z.number().int(),
        by_scorer: z
          .array(z.object({ scorer_name: z.string(), spent_usd: z.number(), requests: z.number().int() }))
          .describe('Scorers of one request share its cost.'),
      }),
    },
    problems: { 404: 'There is no such project.' },
    async handle({ principal, query }) {
      const database = databases.ofOne(principal, query.project_id)
      const spend = await findJudgeSpend(database, clock.now())
      return { json: found(spend, 'project', database.scope.projectId) }
    },
  })
}
