import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { newId } from '#schemas/ids.ts'
import { maxActiveSuppressions } from '#schemas/suppression.ts'
import { idField, textField } from '#http/fields.ts'
import { found, Problem } from '#http/problem.ts'
import type { Principal } from '#http/access/principal.ts'
import { route, type Route } from '#http/route.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import { mayReadContent } from '../people/authenticate-people.ts'
import { previewSuppression } from '../stores/preview-suppression.ts'
import { isProject, type ProjectDatabases } from '../stores/project-database.ts'
import {
  createSuppression,
  findSuppression,
  listSuppressions,
  maxSuppressions,
  revokeSuppression,
  type Suppression,
} from '../stores/suppression-store.ts'
import { createReadRule } from './read-suppression-rule.ts'
import { createBody, previewBody, previewSchema, suppressionSchema } from './suppression-schemas.ts'

const previewDays = 30
const dayMs = 86_400_000

interface SuppressionRoutesOptions {
  databases: ProjectDatabases
  sealer: Sealer
  clock: Clock
}

/** Suppressions: rules that mark known false alarms. They delete nothing, and events are still raised. */
export function suppressionRoutes(options: SuppressionRoutesOptions): Route[] {
  return [
    createRoute(options),
    previewRoute(options),
    listRoute(options),
    getRoute(options),
    revokeRoute(options),
  ]
}

const projectQuery = z.strictObject({
  project_id: idField('project').optional().describe('Required from the operator; a key has its own.'),
})
const common = { access: 'all', tag: 'Suppressions', query: projectQuery } as const
const one = {
  ...common,
  params: z.object({ id: idField('suppression') }),
  problems: { 404: 'There is no such suppression.' },
} as const

function createRoute({ databases, sealer, clock }: SuppressionRoutesOptions): Route {
  const readRule = createReadRule(sealer)
  return route({
    ...common,
    method: 'post',
    path: '/api/suppressions',
    summary:
      'Mark scores like these as known false alarms from now on. Takes effect within five seconds; earlier scores stay as they are.',
    body: createBody,
    reply: { status: 201, description: 'The suppression.', schema: suppressionSchema },
    problems: {
      404: 'There is no such project or score.',
      409: `The project has ${maxActiveSuppressions} active suppressions, or ${maxSuppressions} with those that ended in the last 400 days.`,
      422: 'A field is wrong, or `critical` is covered without `expires_at`.',
    },
    async handle({ principal, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const nowMs = clock.now()
      const { rule, requestId } = await readRule(database, body, newId('suppression', nowMs), nowMs)
      const author = principal.kind === 'person' ? principal.person.login : body.author
      const input = { ...rule, reason: body.reason, author, author_kind: principal.kind }
      const made = await createSuppression(database, { ...input, request_id: requestId }, nowMs)
      if (made === undefined && (await isProject(database)))
        throw new Problem(
          409,
          'SUPPRESSIONS_TOO_MANY',
          `the project has ${maxActiveSuppressions} active suppressions, or ${maxSuppressions} in all: revoke some`,
        )
      return { status: 201, json: found(made, 'project', database.scope.projectId) }
    },
  })
}

function previewRoute({ databases, sealer, clock }: SuppressionRoutesOptions): Route {
  const readRule = createReadRule(sealer)
  return route({
    ...common,
    method: 'post',
    path: '/api/suppressions/preview',
    summary: 'What a suppression would have covered in the last 30 days. Changes nothing.',
    body: previewBody,
    reply: { status: 200, description: 'Counts and samples.', schema: previewSchema },
    problems: { 404: 'There is no such project or score.' },
    async handle({ principal, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const nowMs = clock.now()
      const { rule } = await readRule(database, body, newId('suppression', nowMs), nowMs)
      const startMs = nowMs - previewDays * dayMs
      const preview = await previewSuppression(database, rule, { startMs, nowMs })
      return { json: { start: new Date(startMs).toISOString(), ...preview } }
    },
  })
}

function listRoute({ databases, clock }: SuppressionRoutesOptions): Route {
  return route({
    ...common,
    access: 'read',
    method: 'get',
    path: '/api/suppressions',
    summary: 'List suppressions with what each has covered, newest first.',
    query: projectQuery.extend({
      ...pagingFields,
      scorer_name: textField(100).optional(),
      active: z
        .enum(['true', 'false'])
        .transform((text) => text === 'true')
        .optional()
        .describe('`false`: those that were revoked or have expired.'),
    }),
    reply: { status: 200, description: 'Suppressions.', schema: listOf(suppressionSchema) },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'suppression')
      const database = databases.ofOne(principal, query.project_id)
      const { items, counted } = await listSuppressions(database, query, paging, clock.now())
      return {
        json: envelope(
          paging,
          items.map((item) => shownTo(principal, item)),
          counted,
        ),
      }
    },
  })
}

function getRoute({ databases, clock }: SuppressionRoutesOptions): Route {
  return route({
    ...one,
    access: 'read',
    method: 'get',
    path: '/api/suppressions/{id}',
    summary: 'One suppression, as `suppressed_by` of a score names it.',
    reply: { status: 200, description: 'The suppression.', schema: suppressionSchema },
    async handle({ principal, params: { id }, query }) {
      const database = databases.ofOne(principal, query.project_id)
      const suppression = await findSuppression(database, id, clock.now())
      return { json: shownTo(principal, found(suppression, 'suppression', id)) }
    },
  })
}

function revokeRoute({ databases, clock }: SuppressionRoutesOptions): Route {
  return route({
    ...one,
    method: 'post',
    path: '/api/suppressions/{id}/revoke',
    summary: 'End a suppression. Scores that it marked stay marked.',
    reply: { status: 200, description: 'The ended suppression.', schema: suppressionSchema },
    async handle({ principal, params: { id }, query }) {
      const database = databases.ofOne(principal, query.project_id)
      return { json: found(await revokeSuppression(database, id, clock.now()), 'suppression', id) }
    },
  })
}

/** Reasons quote content. */
function shownTo(principal: Principal, suppression: Suppression): Suppression {
  return mayReadContent(principal) ? suppression : { ...suppression, reason: null }
}
