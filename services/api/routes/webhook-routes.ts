import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { defaultWebhookPorts } from '#runtime/config.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { selectableEvents } from '#schemas/event-raised.ts'
import { newId } from '#schemas/ids.ts'
import { severitySchema } from '#schemas/verdicts.ts'
import { idField, textField } from '#http/fields.ts'
import { Problem, found, notFound } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { envelope, listOf, pageFields, readPaging } from '../http/paging.ts'
import { isProject, type ProjectDatabases } from '../stores/project-database.ts'
import {
  createWebhook,
  findWebhook,
  listWebhooks,
  maxWebhooks,
  removeWebhook,
  rotateSecret,
  updateWebhook,
  type WebhookInput,
} from '../stores/webhook-store.ts'
import type { CheckWebhook } from '../webhooks/check-webhook.ts'
import { makeSecret } from '../webhooks/webhook-secret.ts'
import { webhookHealthFields } from './webhook-health-fields.ts'

export const webhookParams = z.object({ id: idField('webhook') })
export const projectQuery = z.strictObject({
  project_id: idField('project').optional().describe('Required from the operator; a key has its own.'),
})

export const webhookFields = {
  url: textField(2_048).describe(
    `HTTPS, to a port of WEBHOOK_PORTS (unless the installation says otherwise, ${defaultWebhookPorts.join(' or ')}); not an internal address.`,
  ),
  events: z
    .array(z.enum(selectableEvents))
    .min(1)
    .max(selectableEvents.length)
    .refine((events) => new Set(events).size === events.length, 'must not name an event twice'),
  filters: z
    .strictObject({
      severity: z.array(severitySchema).max(10).optional(),
      scorer_name: z.array(textField(100)).max(100).optional(),
    })
    .describe('Apply only to events that have the field.'),
  filter_expression: textField(2_000)
    .nullable()
    .describe(
      'CEL that decides for every event of the webhook; fields of other events are null. So `data.severity == "critical"` takes no `usage_alert`: write `event != "threat_detected" || data.severity == "critical"`. Where what is compared by order is null (`data.score_value > 0.5` on a `usage_alert`) it fails, and the event is not sent. `matches` takes four RE2 patterns and texts of up to 4,096 characters; one of n steps reads at most 557,056 / n, and all together come to as many. An expression that reads more fails on the event, which is not sent.',
    ),
  enabled: z.boolean().describe('Enabling resets the count of failures.'),
  disable_after_hours: z
    .number()
    .int()
    .min(1)
    .max(720)
    .nullable()
    .describe(
      'Disable the webhook after deliveries have failed, and none succeeded, for this long; null: never.',
    ),
}

const createSchema = z.strictObject({
  ...z.strictObject(webhookFields).partial().shape,
  url: webhookFields.url,
  events: webhookFields.events,
})
const changeSchema = z.strictObject(webhookFields).partial()
const webhookSchema = z.object({
  id: z.string(),
  project_id: z.string(),
  ...webhookFields,
  filter_expression_error: z
    .object({ message: z.string(), at: z.iso.datetime() })
    .nullable()
    .describe(
      'The last error of the expression on an event, which was not sent; null: none since it was saved.',
    ),
  disabled_by_failures: z
    .object({ reason: z.string(), at: z.iso.datetime() })
    .nullable()
    .describe('Why and when it was disabled by `disable_after_hours`; null otherwise.'),
  ...webhookHealthFields,
  created_at: z.iso.datetime(),
})
const withSecret = webhookSchema.extend({
  secret: z.string().describe('`whsec_…`; its UTF-8 bytes are the HMAC key. Shown only here.'),
})

export interface WebhookRoutesOptions {
  databases: ProjectDatabases
  sealer: Sealer
  check: CheckWebhook
  clock: Clock
}

/** Webhooks: which events go to which receivers. */
export function webhookRoutes(options: WebhookRoutesOptions): Route[] {
  return [
    createRoute(options),
    listRoute(options),
    getRoute(options),
    changeRoute(options),
    removeRoute(options),
    rotateRoute(options),
  ]
}

const common = { access: 'all', tag: 'Webhooks', query: projectQuery } as const
const one = { ...common, params: webhookParams, problems: { 404: 'There is no such webhook.' } } as const

function createRoute({ databases, sealer, check, clock }: WebhookRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/v1/webhooks',
    summary: 'Register a webhook. The signing secret is only in this answer.',
    body: createSchema,
    reply: { status: 201, description: 'The webhook.', schema: withSecret },
    problems: {
      404: 'There is no such project.',
      422: `A field is wrong, or the project has ${maxWebhooks} webhooks already.`,
    },
    async handle({ principal, query, body }) {
      await check(body)
      const database = databases.ofOne(principal, query.project_id)
      const { projectId } = database.scope
      const nowMs = clock.now()
      const id = newId('webhook', nowMs)
      const { secret, sealed } = makeSecret(sealer, projectId, id)
      const webhook = await createWebhook(database, id, inputOf(body), sealed, nowMs)
      if (webhook === undefined && (await isProject(database))) {
        throw new Problem(422, 'WEBHOOKS_TOO_MANY', `the project has ${maxWebhooks} webhooks already`)
      }
      return { status: 201, json: { ...found(webhook, 'project', projectId), secret } }
    },
  })
}

function inputOf(body: z.output<typeof createSchema>): WebhookInput {
  const { url, events, filters = {}, filter_expression = null, enabled = true } = body
  const disable_after_hours = body.disable_after_hours ?? null
  return { url, events, filters: listsOf(filters), filter_expression, enabled, disable_after_hours }
}

export function listsOf(filters: z.output<typeof webhookFields.filters>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(filters).filter(([, values]) => values !== undefined)) as Record<
    string,
    string[]
  >
}

function listRoute({ databases }: WebhookRoutesOptions): Route {
  return route({
    ...common,
    access: 'read',
    method: 'get',
    path: '/api/v1/webhooks',
    summary: 'List webhooks, newest first.',
    query: projectQuery.extend(pageFields),
    reply: { status: 200, description: 'Webhooks, without their secrets.', schema: listOf(webhookSchema) },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'webhook')
      const database = databases.ofOne(principal, query.project_id)
      const { items, total } = await listWebhooks(database, { limit: paging.limit, offset: paging.offset })
      return { json: envelope(paging, items, { total, isExact: true }) }
    },
  })
}

function getRoute({ databases }: WebhookRoutesOptions): Route {
  return route({
    ...one,
    access: 'read',
    method: 'get',
    path: '/api/v1/webhooks/{id}',
    summary: 'One webhook.',
    reply: { status: 200, description: 'The webhook.', schema: webhookSchema },
    async handle({ principal, params: { id }, query }) {
      const database = databases.ofOne(principal, query.project_id)
      return { json: found(await findWebhook(database, id), 'webhook', id) }
    },
  })
}

function changeRoute({ databases, check, clock }: WebhookRoutesOptions): Route {
  return route({
    ...one,
    method: 'patch',
    path: '/api/v1/webhooks/{id}',
    summary: 'Change a webhook. Absent fields stay; filters are replaced as a whole.',
    body: changeSchema,
    reply: { status: 200, description: 'The changed webhook.', schema: webhookSchema },
    async handle({ principal, params: { id }, query, body }) {
      await check(body)
      const { filters, ...changes } = body
      const database = databases.ofOne(principal, query.project_id)
      const defined = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
      const lists = filters === undefined ? {} : { filters: listsOf(filters) }
      return {
        json: found(await updateWebhook(database, id, { ...defined, ...lists }, clock.now()), 'webhook', id),
      }
    },
  })
}

function removeRoute({ databases, clock }: WebhookRoutesOptions): Route {
  return route({
    ...one,
    method: 'delete',
    path: '/api/v1/webhooks/{id}',
    summary: 'Delete a webhook and its delivery log.',
    reply: { status: 204, description: 'Deleted.' },
    async handle({ principal, params: { id }, query }) {
      const database = databases.ofOne(principal, query.project_id)
      if (!(await removeWebhook(database, id, clock.now()))) throw notFound('webhook', id)
      return {}
    },
  })
}

const maxOverlapSeconds = 7 * 86_400

function rotateRoute({ databases, sealer, clock }: WebhookRoutesOptions): Route {
  return route({
    ...one,
    method: 'post',
    path: '/api/v1/webhooks/{id}/rotate-secret',
    summary:
      "Make a new signing secret. During the overlap, or until another rotation, X-Service-Signature-Previous has the old secret's signature.",
    body: z
      .strictObject({ overlap_seconds: z.number().int().min(0).max(maxOverlapSeconds).default(0) })
      .prefault({}),
    reply: { status: 200, description: 'The webhook with its new secret.', schema: withSecret },
    async handle({ principal, params: { id }, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const { secret, sealed } = makeSecret(sealer, database.scope.projectId, id)
      const nowMs = clock.now()
      const overlapUntilMs = nowMs + body.overlap_seconds * 1_000
      const webhook = await rotateSecret(database, id, sealed, overlapUntilMs, nowMs)
      return { json: { ...found(webhook, 'webhook', id), secret } }
    },
  })
}
