import { z } from 'zod'
import type { Sealer } from '#runtime/sealing.ts'
import { eventNames } from '#schemas/event-raised.ts'
import { textField } from '#http/fields.ts'
import { route, type Route } from '#http/route.ts'
import { readRecentEvents } from '../stores/outbox-store.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { tryExpression } from '../webhooks/try-expression.ts'
import { projectQuery } from './webhook-routes.ts'

interface TryExpressionOptions {
  databases: ProjectDatabases
  sealer: Sealer
}

const triedEvents = 20
const trialSchema = z.object({
  error: z.string().nullable().describe('Why it cannot be saved, with line and column; null: it can.'),
  tried: z
    .array(
      z.object({
        id: z.string(),
        event: z.enum(eventNames),
        created_at: z.iso.datetime(),
        scorer_name: z.string().nullable(),
        severity: z.string().nullable(),
        outcome: z.enum(['passes', 'held_back', 'failed']),
        message: z.string().nullable().describe('The error on this event; null: none.'),
      }),
    )
    .describe(
      `The project's newest ${triedEvents} events of the last week with the result for each; fewer when evaluation costs too much.`,
    ),
})

/** Evaluates an expression on past events before it is saved. */
export function tryExpressionRoute({ databases, sealer }: TryExpressionOptions): Route {
  return route({
    access: 'all',
    tag: 'Webhooks',
    query: projectQuery,
    method: 'post',
    path: '/api/v1/webhooks/try',
    summary: 'Try a filter expression on recent events. Nothing is saved or sent.',
    body: z.strictObject({ filter_expression: textField(2_000) }),
    reply: { status: 200, description: 'The results.', schema: trialSchema },
    async handle({ principal, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const events = await readRecentEvents(database, triedEvents)
      return { json: await tryExpression(body.filter_expression, events, sealer) }
    },
  })
}
