import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { tierSchema } from '#schemas/tiers.ts'
import type { KeyDirectory } from '#http/access/key-directory.ts'
import type { ProjectKey } from '#http/access/principal.ts'
import { noLimits } from '#schemas/key-limits.ts'
import { idField, textField, timeField } from '#http/fields.ts'
import { invalidInput, Problem, found, notFound } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { envelope, listOf, pageFields, readPaging } from '../http/paging.ts'
import type { KeyAdminStore } from '../stores/key-admin-store.ts'
import type { ProjectStore } from '../stores/project-store.ts'
import { changeKeySchema, keySchema, limitFields, newLimitFields, scopeSchema } from './key-schemas.ts'

const projectParams = z.object({ id: idField('project') })
const keyParams = z.object({ id: idField('project'), key_id: idField('key') })

interface KeyRoutesOptions {
  projects: ProjectStore
  keys: KeyAdminStore
  directory: KeyDirectory
  clock: Clock
}

/** The operator's routes for API keys. */
export function keyRoutes(options: KeyRoutesOptions): Route[] {
  return [
    createRoute(options),
    listRoute(options),
    getRoute(options),
    changeRoute(options),
    revokeRoute(options),
    resolveRoute(options),
  ]
}

const common = { access: 'operator', tag: 'API keys' } as const

function createRoute({ projects, keys, clock }: KeyRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/projects/{id}/keys',
    summary: 'Create an API key. The key is only in this answer.',
    params: projectParams,
    body: z.strictObject({
      name: textField(200),
      label: z
        .string()
        .regex(/^[A-Za-z0-9-]{1,32}$/, 'must be 1 to 32 letters, digits or hyphens')
        .nullish()
        .describe('Part of the key, for people: `svc_<label>_…`.'),
      scope: scopeSchema
        .default('all')
        .describe('`ingest` logs calls, `read` reads, `all` does both and manages webhooks.'),
      expires_at: timeField.nullish(),
      ...newLimitFields,
    }),
    reply: { status: 201, description: 'The key.', schema: keySchema.extend({ key: z.string() }) },
    problems: { 404: 'There is no such project.' },
    handle: async ({ principal, params, body: { expires_at: expires, ...given } }) => {
      const nowMs = clock.now()
      const expiresAtMs = expires ?? null
      if (expiresAtMs !== null && expiresAtMs <= nowMs) {
        throw invalidInput([{ path: 'expires_at', message: 'must be in the future' }])
      }
      found(await projects.find(params.id), 'project', params.id)
      const input = { ...given, label: given.label ?? null, expiresAtMs }
      return { status: 201, json: await keys.create(principal, params.id, input, nowMs) }
    },
  })
}

function listRoute({ projects, keys, clock }: KeyRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/projects/{id}/keys',
    summary: 'API keys of a project that are not revoked, newest first.',
    params: projectParams,
    query: z.strictObject(pageFields),
    reply: { status: 200, description: 'Keys, without their secrets.', schema: listOf(keySchema) },
    problems: { 404: 'There is no such project.' },
    handle: async ({ params, query }) => {
      const paging = readPaging(query, 'key')
      found(await projects.find(params.id), 'project', params.id)
      const { items, total } = await keys.list(params.id, paging, clock.now())
      return { json: envelope(paging, items, { total, isExact: true }) }
    },
  })
}

function getRoute({ keys, clock }: KeyRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/projects/{id}/keys/{key_id}',
    summary: 'One API key, with what it has spent this month.',
    params: keyParams,
    reply: { status: 200, description: 'The key, without its secret.', schema: keySchema },
    problems: { 404: 'The project has no such key.' },
    handle: async ({ params }) => ({
      json: found(await keys.find(params.id, params.key_id, clock.now()), 'API key', params.key_id),
    }),
  })
}

function changeRoute({ keys, directory, clock }: KeyRoutesOptions): Route {
  return route({
    ...common,
    method: 'patch',
    path: '/api/projects/{id}/keys/{key_id}',
    summary: 'Change what an API key carries and may do. Gateways notice within a minute.',
    params: keyParams,
    body: changeKeySchema,
    reply: { status: 200, description: 'The changed key.', schema: keySchema },
    problems: { 404: 'The project has no such key.' },
    handle: async ({ principal, params, body }) => {
      const changes = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
      const key = await keys.change(principal, params.id, params.key_id, changes, clock.now())
      // The announcement reaches this process too, but perhaps after the next request.
      directory.forgetProject(params.id)
      return { json: found(key, 'API key', params.key_id) }
    },
  })
}

function revokeRoute({ keys, directory, clock }: KeyRoutesOptions): Route {
  return route({
    ...common,
    method: 'delete',
    path: '/api/projects/{id}/keys/{key_id}',
    summary: 'Revoke an API key, at once and in every process.',
    params: keyParams,
    reply: { status: 204, description: 'The key no longer works.' },
    problems: { 404: 'The project has no such key.' },
    handle: async ({ principal, params }) => {
      const isRevoked = await keys.revoke(principal, params.id, params.key_id, clock.now())
      // The announcement reaches this process too, but perhaps after the next request.
      directory.forgetProject(params.id)
      if (!isRevoked) throw notFound('API key', params.key_id)
      return {}
    },
  })
}

function resolveRoute({ directory, clock }: KeyRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/internal/keys/resolve',
    summary: 'The project of a key, for gateways whose clients send project keys.',
    body: z.strictObject({
      key_sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits in lower case')
        .describe('SHA-256 of the 48 digits of the key in lower case, without prefix and label.'),
    }),
    reply: {
      status: 200,
      description: 'The key is valid.',
      schema: z.object({
        key_id: z.string(),
        project_id: z.string(),
        scope: scopeSchema,
        tier: tierSchema,
        zero_content_retention: z.boolean(),
        mask: z.boolean().optional().describe('Whether calls are masked before they are stored. Absent: no.'),
        expires_at: z.iso.datetime().nullable(),
        ...limitFields,
      }),
    },
    problems: { 404: 'No valid key has this hash.' },
    handle: async ({ body }) => {
      const key = await directory.findKey(Buffer.from(body.key_sha256, 'hex'))
      if (key === undefined || (key.expiresAtMs !== null && key.expiresAtMs <= clock.now())) {
        throw new Problem(404, 'KEY_UNKNOWN', 'no API key in force has this hash')
      }
      return {
        json: {
          key_id: key.keyId,
          project_id: key.project.projectId,
          scope: key.scope,
          tier: key.project.tier,
          zero_content_retention: key.project.zeroContentRetention,
          ...(key.project.masks === true && { mask: true }),
          expires_at: key.expiresAtMs === null ? null : new Date(key.expiresAtMs).toISOString(),
          ...limitsOf(key),
        },
      }
    },
  })
}

function limitsOf({ limits = noLimits }: ProjectKey) {
  return {
    user: limits.user,
    team: limits.team,
    models: limits.models === null ? null : [...limits.models],
    capture: limits.capture,
    rate_limit_per_minute: limits.ratePerMinute,
    monthly_budget_usd: limits.monthlyBudgetUsd,
    when_unknown: limits.whenUnknown,
  }
}
