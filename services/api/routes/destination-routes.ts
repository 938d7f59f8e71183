import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import type { Sealer } from '#runtime/sealing.ts'
import {
  defaultEvents,
  defaultPerMinute,
  destinationKinds,
  kindsForPeople,
  shownAddress,
} from '#schemas/destinations.ts'
import { newId } from '#schemas/ids.ts'
import { found, invalidInput, notFound, Problem } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { envelope, listOf, pageFields, readPaging } from '../http/paging.ts'
import {
  createDestination,
  findDestination,
  listDestinations,
  removeDestination,
  updateDestination,
} from '../stores/destination-store.ts'
import { isProject, type ProjectDatabases } from '../stores/project-database.ts'
import { maxWebhooks } from '../stores/webhook-store.ts'
import type { CheckDestination } from '../webhooks/check-destination.ts'
import type { CheckWebhook } from '../webhooks/check-webhook.ts'
import { sealCredentials } from '../webhooks/seal-credentials.ts'
import { makeSecret } from '../webhooks/webhook-secret.ts'
import { webhookHealthFields } from './webhook-health-fields.ts'
import { listsOf, projectQuery, webhookFields, webhookParams } from './webhook-routes.ts'

const kinds = destinationKinds.filter((kind) => kind !== 'webhook')
const object = z.record(z.string(), z.unknown())
const shared = {
  events: webhookFields.events,
  filters: webhookFields.filters,
  filter_expression: webhookFields.filter_expression,
  enabled: z.boolean(),
  include_text: z
    .boolean()
    .describe('Whether masked text of calls is sent. Chat, paging, issues and mail: off unless it is set.'),
  max_per_minute: z
    .number()
    .int()
    .min(1)
    .max(6_000)
    .nullable()
    .describe(
      `Events a minute; the others are sent in the next. Chat, paging, issues and mail: ${defaultPerMinute} unless it is set.`,
    ),
}
const inputFields = {
  settings: object.describe('As its kind has them: docs/destinations.md.'),
  credentials: object.describe('As its kind has them. Never shown again. They need BODY_ENCRYPTION_KEYS.'),
  ...shared,
}
const createSchema = z.strictObject({
  ...z.strictObject(inputFields).partial().shape,
  kind: z.enum(kinds),
})
const changeSchema = z.strictObject(inputFields).partial()
const destinationSchema = z.object({
  id: z.string(),
  project_id: z.string(),
  kind: z.enum(kinds),
  url: z.string().describe('Where it leads, without what is secret.'),
  settings: object,
  has_credentials: z.boolean(),
  ...shared,
  filter_expression_error: z.object({ message: z.string(), at: z.iso.datetime() }).nullable(),
  ...webhookHealthFields,
  created_at: z.iso.datetime(),
})

export interface DestinationRoutesOptions {
  databases: ProjectDatabases
  sealer: Sealer
  /** Whether BODY_ENCRYPTION_KEYS are set. */
  hasKeys: boolean
  check: CheckDestination
  checkWebhook: CheckWebhook
  clock: Clock
}

/**
 * Destinations: the same events in the formats of other systems. Log, test and replay are those of webhooks.
 */
export function destinationRoutes(options: DestinationRoutesOptions): Route[] {
  return [
    createRoute(options),
    listRoute(options),
    getRoute(options),
    changeRoute(options),
    removeRoute(options),
  ]
}

const common = { access: 'all', tag: 'Webhooks', query: projectQuery } as const
const one = { ...common, params: webhookParams, problems: { 404: 'There is no such destination.' } } as const

function createRoute({
  databases,
  sealer,
  hasKeys,
  check,
  checkWebhook,
  clock,
}: DestinationRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/v1/destinations',
    summary: 'Add a destination: Slack, Teams, PagerDuty, Jira, e-mail, Splunk, JSON, OCSF or syslog.',
    body: createSchema,
    reply: { status: 201, description: 'The destination.', schema: destinationSchema },
    problems: {
      404: 'There is no such project.',
      422: `A field is wrong, or the project has ${maxWebhooks} webhooks and destinations already.`,
    },
    async handle({ principal, query, body }) {
      const { kind, settings: given = {}, credentials: secrets = {}, filters = {}, ...rest } = body
      await checkWebhook(rest)
      const { settings, credentials } = await check(kind, { settings: given, credentials: secrets })
      const database = databases.ofOne(principal, query.project_id)
      const { projectId } = database.scope
      const nowMs = clock.now()
      const id = newId('webhook', nowMs)
      const sealed = sealCredentials(credentials, { sealer, hasKeys, projectId, id })
      const forPeople = kindsForPeople.has(kind)
      const input = {
        kind,
        settings,
        credentials: sealed,
        url: shownAddress(kind, settings, credentials),
        events: rest.events ?? defaultEvents(kind),
        filters: listsOf(filters),
        filter_expression: rest.filter_expression ?? null,
        enabled: rest.enabled ?? true,
        include_text: rest.include_text ?? !forPeople,
        max_per_minute:
          rest.max_per_minute === undefined ? (forPeople ? defaultPerMinute : null) : rest.max_per_minute,
      }
      const made = await createDestination(
        database,
        id,
        input,
        makeSecret(sealer, projectId, id).sealed,
        nowMs,
      )
      if (made === undefined && (await isProject(database)))
        throw new Problem(
          422,
          'WEBHOOKS_TOO_MANY',
          `the project has ${maxWebhooks} webhooks and destinations already`,
        )
      return { status: 201, json: { ...found(made, 'project', projectId) } }
    },
  })
}

function listRoute({ databases }: DestinationRoutesOptions): Route {
  return route({
    ...common,
    access: 'read',
    method: 'get',
    path: '/api/v1/destinations',
    summary: 'List destinations, newest first.',
    query: projectQuery.extend(pageFields),
    reply: {
      status: 200,
      description: 'Destinations, without credentials.',
      schema: listOf(destinationSchema),
    },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'webhook')
      const database = databases.ofOne(principal, query.project_id)
      const { items, total } = await listDestinations(database, {
        limit: paging.limit,
        offset: paging.offset,
      })
      return { json: envelope(paging, items, { total, isExact: true }) }
    },
  })
}

function getRoute({ databases }: DestinationRoutesOptions): Route {
  return route({
    ...one,
    access: 'read',
    method: 'get',
    path: '/api/v1/destinations/{id}',
    summary: 'One destination.',
    reply: { status: 200, description: 'The destination.', schema: destinationSchema },
    async handle({ principal, params: { id }, query }) {
      const database = databases.ofOne(principal, query.project_id)
      return { json: { ...found(await findDestination(database, id), 'webhook', id) } }
    },
  })
}

function changeRoute(options: DestinationRoutesOptions): Route {
  const { databases, sealer, hasKeys, check, checkWebhook, clock } = options
  return route({
    ...one,
    method: 'patch',
    path: '/api/v1/destinations/{id}',
    summary:
      'Change a destination. Absent fields stay; settings, credentials and filters are replaced as a whole.',
    body: changeSchema,
    reply: { status: 200, description: 'The changed destination.', schema: destinationSchema },
    async handle({ principal, params: { id }, query, body }) {
      const { settings: given, credentials: secrets, filters, ...rest } = body
      await checkWebhook(rest)
      const database = databases.ofOne(principal, query.project_id)
      const stored = found(await findDestination(database, id), 'webhook', id)
      const { kind, settings: kept, has_credentials: hasCredentials } = stored
      const changes: Parameters<typeof updateDestination>[2] = Object.fromEntries(
        Object.entries(rest).filter(([, value]) => value !== undefined),
      )
      if (given !== undefined || secrets !== undefined) {
        // Checked whole. Credentials that are not given again stay only where the address stays.
        const { settings, credentials } = await check(kind, {
          settings: given ?? kept,
          credentials: secrets,
        })
        const address = shownAddress(kind, settings, credentials)
        const isMoved = address !== stored.url || tlsOf(settings) !== tlsOf(kept)
        if (secrets === undefined && hasCredentials && isMoved) {
          const message = 'must be given again: they are cleared when the address changes'
          throw invalidInput([{ path: 'credentials', message }])
        }
        const { projectId } = database.scope
        Object.assign(changes, { settings, url: address })
        if (secrets !== undefined)
          changes.credentials = sealCredentials(credentials, { sealer, hasKeys, projectId, id })
      }
      if (filters !== undefined) changes.filters = listsOf(filters)
      return {
        json: { ...found(await updateDestination(database, id, changes, clock.now()), 'webhook', id) },
      }
    },
  })
}

/** Without TLS, credentials would go over the same address in the clear. */
function tlsOf(settings: object): unknown {
  return 'tls' in settings ? settings.tls : undefined
}

function removeRoute({ databases, clock }: DestinationRoutesOptions): Route {
  return route({
    ...one,
    method: 'delete',
    path: '/api/v1/destinations/{id}',
    summary: 'Delete a destination and its delivery log.',
    reply: { status: 204, description: 'Deleted.' },
    async handle({ principal, params: { id }, query }) {
      const database = databases.ofOne(principal, query.project_id)
      if (!(await removeDestination(database, id, clock.now()))) throw notFound('webhook', id)
      return {}
    },
  })
}
