import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { maxAlertRules, metadataOf } from '#schemas/alert-rule.ts'
import { newId } from '#schemas/ids.ts'
import { idField } from '#http/fields.ts'
import { found, invalidInput, notFound } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import {
  createAlertRule,
  findAlertRule,
  listAlertRules,
  removeAlertRule,
  updateAlertRule,
  type AlertRuleInput,
} from '../stores/alert-rule-store.ts'
import { readMetadataKeys } from '../stores/metadata-key-store.ts'
import { previewAlertRule } from '../stores/preview-alert-rule.ts'
import {
  isProject,
  type OneProject,
  type ProjectDatabase,
  type ProjectDatabases,
} from '../stores/project-database.ts'
import {
  alertRuleSchema,
  changeBody,
  checkAlertRule,
  createBody,
  previewBody,
  previewSchema,
} from './alert-rule-schemas.ts'

const hourMs = 3_600_000
const previewHours = 30 * 24

interface AlertRuleRoutesOptions {
  databases: ProjectDatabases
  clock: Clock
}

/** Alert rules: thresholds on rates and counts of a project, evaluated each minute by the sink. */
export function alertRuleRoutes(options: AlertRuleRoutesOptions): Route[] {
  return [
    createRoute(options),
    previewRoute(options),
    listRoute(options),
    getRoute(options),
    changeRoute(options),
    removeRoute(options),
    keysRoute(options),
  ]
}

function keysRoute({ databases }: AlertRuleRoutesOptions): Route {
  return route({
    ...common,
    access: 'read',
    method: 'get',
    path: '/api/metadata-keys',
    summary: 'The metadata keys by whose values calls are counted, for filters of alert rules.',
    reply: {
      status: 200,
      description: 'The keys, as the operator declares them in the project.',
      schema: z.object({
        keys: z.array(
          z.object({
            name: z.string(),
            counted_from: z.iso.datetime().describe('Calls before have no counts by this key.'),
          }),
        ),
      }),
    },
    problems: { 404: 'There is no such project.' },
    async handle({ principal, query }) {
      const database = databases.ofOne(principal, query.project_id)
      return { json: { keys: found(await readMetadataKeys(database), 'project', database.scope.projectId) } }
    },
  })
}

/** Read only for rules that name one. */
async function declaredKeys(
  database: ProjectDatabase<OneProject>,
  { filter }: AlertRuleInput,
): Promise<string[]> {
  if (metadataOf(filter).length === 0) return []
  return (await readMetadataKeys(database))?.map(({ name }) => name) ?? []
}

const projectQuery = z.strictObject({
  project_id: idField('project').optional().describe('Required from the operator; a key has its own.'),
})
const common = { access: 'all', tag: 'Alert rules', query: projectQuery } as const
const one = {
  ...common,
  params: z.object({ id: idField('alertRule') }),
  problems: { 404: 'There is no such alert rule.' },
} as const

function createRoute({ databases, clock }: AlertRuleRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/alert-rules',
    summary: 'Add an alert rule. It raises `alert_fired` and `alert_recovered`.',
    body: createBody,
    reply: { status: 201, description: 'The rule.', schema: alertRuleSchema },
    problems: {
      404: 'There is no such project.',
      422: `A field is wrong, or the project has ${maxAlertRules} rules already.`,
    },
    async handle({ principal, query, body }) {
      const input = body as AlertRuleInput
      const database = databases.ofOne(principal, query.project_id)
      checkAlertRule(input, await declaredKeys(database, input))
      const nowMs = clock.now()
      const made = await createAlertRule(database, newId('alertRule', nowMs), input, nowMs)
      if (made === undefined && (await isProject(database)))
        throw invalidInput([
          { path: 'project_id', message: `has ${maxAlertRules} alert rules already: delete some` },
        ])
      return { status: 201, json: found(made, 'project', database.scope.projectId) }
    },
  })
}

function previewRoute({ databases, clock }: AlertRuleRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/alert-rules/preview',
    summary: 'When a rule would have fired in the last 30 days, evaluated by the hour. Changes nothing.',
    body: previewBody,
    reply: { status: 200, description: 'The intervals in which it would have fired.', schema: previewSchema },
    async handle({ principal, query, body }) {
      const rule = body as AlertRuleInput
      const database = databases.ofOne(principal, query.project_id)
      checkAlertRule(rule, await declaredKeys(database, rule))
      const endMs = Math.floor(clock.now() / hourMs) * hourMs
      const startMs = endMs - previewHours * hourMs
      const preview = await previewAlertRule(database, rule, { startMs, endMs })
      const range = { start: new Date(startMs).toISOString(), end: new Date(endMs).toISOString() }
      return { json: { ...range, ...preview } }
    },
  })
}

function listRoute({ databases, clock }: AlertRuleRoutesOptions): Route {
  return route({
    ...common,
    access: 'read',
    method: 'get',
    path: '/api/alert-rules',
    summary: 'List alert rules with their state and last value, newest first.',
    query: projectQuery.extend(pagingFields),
    reply: { status: 200, description: 'Alert rules.', schema: listOf(alertRuleSchema) },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'alertRule')
      const database = databases.ofOne(principal, query.project_id)
      const { items, counted } = await listAlertRules(database, paging, clock.now())
      return { json: envelope(paging, items, counted) }
    },
  })
}

function getRoute({ databases, clock }: AlertRuleRoutesOptions): Route {
  return route({
    ...one,
    access: 'read',
    method: 'get',
    path: '/api/alert-rules/{id}',
    summary: 'One alert rule.',
    reply: { status: 200, description: 'The rule.', schema: alertRuleSchema },
    async handle({ principal, params: { id }, query }) {
      const database = databases.ofOne(principal, query.project_id)
      return { json: found(await findAlertRule(database, id, clock.now()), 'alert rule', id) }
    },
  })
}

function changeRoute({ databases, clock }: AlertRuleRoutesOptions): Route {
  return route({
    ...one,
    method: 'patch',
    path: '/api/alert-rules/{id}',
    summary: 'Change an alert rule. Absent fields stay; the filter is replaced as a whole.',
    body: changeBody,
    reply: { status: 200, description: 'The changed rule.', schema: alertRuleSchema },
    async handle({ principal, params: { id }, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const nowMs = clock.now()
      const before = found(await findAlertRule(database, id, nowMs), 'alert rule', id)
      const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
      const input = { ...inputOf(before), ...given }
      if (before.is_built_in && input.metric !== before.metric)
        throw invalidInput([{ path: 'metric', message: `must be ${before.metric}: the rule is built in` }])
      checkAlertRule(input, await declaredKeys(database, input))
      return { json: found(await updateAlertRule(database, id, input, nowMs), 'alert rule', id) }
    },
  })
}

/** What can be changed of a rule. */
function inputOf(rule: AlertRuleInput): AlertRuleInput {
  const { name, enabled, metric, filter, window_minutes, direction, warning_threshold } = rule
  const { alert_threshold, for_minutes, cooldown_minutes, compare } = rule
  return {
    ...{ name, enabled, metric, filter, window_minutes, direction, warning_threshold, alert_threshold },
    ...{ for_minutes, cooldown_minutes, compare },
  }
}

function removeRoute({ databases, clock }: AlertRuleRoutesOptions): Route {
  return route({
    ...one,
    method: 'delete',
    path: '/api/alert-rules/{id}',
    summary: 'Delete an alert rule. One that fires tells of no recovery: disable it first.',
    reply: { status: 204, description: 'Deleted.' },
    problems: { 404: 'There is no such alert rule.', 422: 'It is built in: it can only be disabled.' },
    async handle({ principal, params: { id }, query }) {
      const database = databases.ofOne(principal, query.project_id)
      const nowMs = clock.now()
      if (await removeAlertRule(database, id, nowMs)) return {}
      if ((await findAlertRule(database, id, nowMs)) === undefined) throw notFound('alert rule', id)
      throw invalidInput([{ path: 'id', message: 'is a built-in rule: disable it instead' }])
    },
  })
}
