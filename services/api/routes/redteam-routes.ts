import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { refuseTarget } from '#runtime/outbound-address.ts'
import { newId } from '#schemas/ids.ts'
import {
  redteamStatuses,
  redteamTransformations,
  redteamVerdicts,
  type RedteamTarget,
} from '#schemas/redteam-run.ts'
import { idField, textField } from '#http/fields.ts'
import { invalidInput, Problem, found } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { taggedJson } from '#http/entity-tag.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import { findCredentials } from '../redteam/find-credentials.ts'
import { attemptsSchema, orderSchema, redteamRunSchema } from '../redteam/redteam-schemas.ts'
import { listAttempts } from '../stores/redteam-attempts.ts'
import {
  findRun,
  cancelRedteamRun,
  findRedteamRun,
  insertRedteamRun,
  listRedteamRuns,
  type RedteamRun,
} from '../stores/redteam-store.ts'
import { redteamReportRoutes, type RedteamReportOptions } from './redteam-report-routes.ts'

export interface RedteamRoutesOptions extends RedteamReportOptions {
  clock: Clock
  allowedHosts: ReadonlySet<string>
}

const reading = { access: 'read', tag: 'Red team' } as const
const ordering = { access: 'operator', tag: 'Red team' } as const
const runParams = z.object({ id: idField('run') })
const whose = { project_id: idField('project').optional() }
const missing = { 404: 'There is no such run.' } as const
const reply = { status: 200, description: 'The run.', schema: redteamRunSchema } as const

/**
 * Attacks on an organisation's own agents: ordered and cancelled by the operator, read by everyone who may
 * read the project.
 */
export function redteamRoutes(options: RedteamRoutesOptions): Route[] {
  return [
    orderRoute(options),
    listRoute(options),
    getRoute(options),
    attemptsRoute(options),
    cancelRoute(options),
    ...redteamReportRoutes(options),
  ]
}

/** Only the operator orders runs: a project's key must not send requests from here to hosts of its choice. */
function orderRoute({ databases, clock, allowedHosts }: RedteamRoutesOptions): Route {
  return route({
    ...ordering,
    method: 'post',
    path: '/api/redteam-runs',
    summary: 'Order an attack on an agent. The run is asynchronous; poll it for its progress.',
    body: orderSchema,
    reply: { status: 201, description: 'It is ordered.', schema: redteamRunSchema },
    problems: { 404: 'There is no such project.', 409: 'A hundred of its runs are open.' },
    async handle({ principal, body }) {
      const { project_id, budget_usd, ...order } = body
      checkTarget(order.target, order.runner, allowedHosts)
      const run = await insertRedteamRun(
        databases.ofOne(principal, project_id),
        newId('run', clock.now()),
        { ...order, budget_usd: budget_usd ?? null },
        clock.now(),
      )
      if (run === null)
        throw new Problem(
          409,
          'REDTEAM_RUNS_TOO_MANY',
          `${project_id} has 100 open runs: wait for some, or cancel them`,
        )
      return { status: 201, json: found(run, 'project', project_id) }
    },
  })
}

function checkTarget(
  target: RedteamTarget,
  runner: RedteamRun['runner'],
  allowedHosts: ReadonlySet<string>,
): void {
  if (target.kind === 'command' || target.kind === 'recorded') {
    if (runner === 'cli') return
    throw invalidInput([
      { path: 'target.kind', message: `${target.kind} is for runs of the command line alone` },
    ])
  }
  const credentials = findCredentials(target)
  if (credentials.length > 0) throw invalidInput(credentials)
  // A command-line run is checked against the list where it runs.
  const refusal = runner === 'cli' ? undefined : refuseTarget(target.url, allowedHosts)
  if (refusal !== undefined) throw invalidInput([{ path: 'target.url', message: refusal }])
}

function listRoute({ databases }: RedteamRoutesOptions): Route {
  return route({
    ...reading,
    method: 'get',
    path: '/api/redteam-runs',
    summary: 'Runs, newest first.',
    query: z.strictObject({
      ...pagingFields,
      ...whose,
      status: z.enum(redteamStatuses).optional(),
      agent_name: textField(256).optional(),
    }),
    polled: true,
    reply: { status: 200, description: 'Runs.', schema: listOf(redteamRunSchema) },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'run')
      const { status, agent_name } = query
      const database = databases.of(principal, query.project_id)
      const { items, counted } = await listRedteamRuns(database, { status, agent_name }, paging)
      return taggedJson(envelope(paging, items, counted))
    },
  })
}

function getRoute({ databases }: RedteamRoutesOptions): Route {
  return route({
    ...reading,
    method: 'get',
    path: '/api/redteam-runs/{id}',
    summary: 'One run with its progress.',
    params: runParams,
    query: z.strictObject(whose),
    polled: true,
    reply,
    problems: missing,
    handle: async ({ principal, params, query }) =>
      taggedJson(await findRun(databases, principal, query.project_id, params.id)),
  })
}

function attemptsRoute({ databases }: RedteamRoutesOptions): Route {
  return route({
    ...reading,
    method: 'get',
    path: '/api/redteam-runs/{id}/attempts',
    summary: 'Attempts of a run in the order of its plan; with `verdict=fail` its findings.',
    params: runParams,
    query: z.strictObject({
      ...whose,
      verdict: z.enum(redteamVerdicts).optional(),
      category: textField(10).optional(),
      probe_id: textField(80).optional(),
      transformation: z.enum(redteamTransformations).optional(),
      after: z.coerce
        .number()
        .int()
        .min(-1)
        .max(1_000_000)
        .default(-1)
        .meta({ type: 'integer', minimum: -1, maximum: 1_000_000, default: -1 })
        .describe('After this number.'),
      limit: z.coerce.number().int().min(1).max(500).default(100),
    }),
    reply: { status: 200, description: 'Attempts.', schema: attemptsSchema },
    problems: missing,
    async handle({ principal, params, query }) {
      const { project_id, after, limit, ...filters } = query
      const run = await findRun(databases, principal, project_id, params.id)
      const database = databases.ofOne(principal, run.project_id)
      const items = await listAttempts(database, params.id, filters, { after, limit: limit + 1 })
      const page = items.slice(0, limit)
      return {
        json: { items: page, next_after: items.length > limit ? (page.at(-1)?.number ?? null) : null },
      }
    },
  })
}

function cancelRoute({ databases, clock }: RedteamRoutesOptions): Route {
  return route({
    ...ordering,
    method: 'post',
    path: '/api/redteam-runs/{id}/cancel',
    summary: 'Stop sending. What was sent stays recorded and scored; there is no `redteam_complete`.',
    params: runParams,
    reply,
    problems: { ...missing, 409: 'It has ended.' },
    async handle({ principal, params }) {
      const run = await findRun(databases, principal, undefined, params.id)
      const database = databases.ofOne(principal, run.project_id)
      if (!(await cancelRedteamRun(database, run.id, clock.now())) && run.status !== 'cancelled')
        throw new Problem(
          409,
          'RUN_STATUS',
          `${run.id} is over: cancel takes runs that are queued, running or scoring`,
        )
      return { json: found(await findRedteamRun(database, run.id), 'run', run.id) }
    },
  })
}
