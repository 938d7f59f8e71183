import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { isId, newId } from '#schemas/ids.ts'
import type { Principal } from '#http/access/principal.ts'
import { idField, textField } from '#http/fields.ts'
import { invalidInput, Problem, found } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import { isOperator } from '../people/authenticate-people.ts'
import {
  createErasure,
  erasureScopes,
  erasureStatuses,
  findErasure,
  listErasures,
  type Erasure,
} from '../stores/erasure-store.ts'
import { isProject, type ProjectDatabases } from '../stores/project-database.ts'

const erasureSchema = z.object({
  id: z.string(),
  project_id: z.string(),
  scope: z.enum(erasureScopes),
  subject: z.string().nullable(),
  requested_at: z.iso
    .datetime()
    .describe('Calls made or received until then are erased; later ones are not.'),
  requested_by: z.enum(['operator', 'key']),
  status: z
    .enum(erasureStatuses)
    .describe('`erased`: nothing is left in the database, and nothing comes back.'),
  erased_calls: z.number().int(),
  erased_at: z.iso.datetime().nullable(),
  kept_in_kafka_until: z.iso
    .datetime()
    .describe('Until then topics may hold erased records. Consumers drop them.'),
})

interface ErasureRoutesOptions {
  databases: ProjectDatabases
  clock: Clock
}

/** Erases what was recorded of a request, a session, a user or a project. */
export function erasureRoutes(options: ErasureRoutesOptions): Route[] {
  return [createRoute(options), listRoute(options), getRoute(options)]
}

const whose = z.strictObject({
  project_id: idField('project').optional().describe('Required from the operator.'),
})
const common = { access: 'all', tag: 'Erasures' } as const

function createRoute({ databases, clock }: ErasureRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/erasures',
    summary: 'Erase what was recorded until now. It starts within seconds; poll its status.',
    query: whose,
    body: z.strictObject({
      scope: z.enum(erasureScopes).describe('`project` is for the operator alone.'),
      subject: textField(256)
        .optional()
        .describe('The request (`req_…`), `session_id` or `user_id`; absent for a project.'),
    }),
    reply: { status: 202, description: 'It is ordered.', schema: erasureSchema },
    problems: {
      403: 'An API key cannot erase its whole project.',
      404: 'There is no such project.',
      429: '10,000 erasures of the project are under way.',
    },
    async handle({ principal, query, body }) {
      const subject = subjectOf(body)
      const requestedBy = requesterOf(principal, body.scope)
      const database = databases.ofOne(principal, query.project_id)
      const erasure = await createErasure(
        database,
        { id: newId('erasure', clock.now()), scope: body.scope, subject, requested_by: requestedBy },
        clock.now(),
      )
      if (erasure === undefined && (await isProject(database))) throw tooMany()
      return { status: 202, json: found(erasure, 'project', query.project_id ?? '') }
    },
  })
}

function tooMany(): Problem {
  return new Problem(429, 'ERASURES_TOO_MANY', '10,000 erasures of the project are under way', {
    headers: { 'retry-after': '60' },
  })
}

function subjectOf({ scope, subject: given }: { scope: Erasure['scope']; subject?: string | undefined }) {
  const subject = given ?? null
  const message = {
    request: 'must be the identifier of a request, req_…',
    session: 'is required: the session_id',
    user: 'is required: the user_id',
    project: 'cannot be given when the scope is project',
  }[scope]
  const isGood =
    scope === 'request'
      ? subject !== null && isId('request', subject)
      : (subject === null) === (scope === 'project')
  if (!isGood) throw invalidInput([{ path: 'subject', message }])
  return subject
}

/** A key of scope `all` may be stored in many applications; a leaked one must not erase a whole project. */
function requesterOf(principal: Principal, scope: Erasure['scope']): Erasure['requested_by'] {
  if (isOperator(principal)) return 'operator'
  if (scope === 'project') {
    throw new Problem(403, 'OPERATOR_ONLY', 'scope: only the operator can erase a whole project')
  }
  return 'key'
}

function listRoute({ databases }: ErasureRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/erasures',
    summary: 'Erasures, newest first.',
    query: z.strictObject({
      ...pagingFields,
      project_id: idField('project').optional(),
      status: z.enum(erasureStatuses).optional(),
    }),
    reply: { status: 200, description: 'Erasures.', schema: listOf(erasureSchema) },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'erasure')
      const database = databases.of(principal, query.project_id)
      const { items, counted } = await listErasures(database, query.status, paging)
      return { json: envelope(paging, items, counted) }
    },
  })
}

function getRoute({ databases }: ErasureRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/erasures/{id}',
    summary: 'One erasure with its progress.',
    params: z.object({ id: idField('erasure') }),
    query: whose,
    reply: { status: 200, description: 'The erasure.', schema: erasureSchema },
    problems: { 404: 'There is no such erasure.' },
    handle: async ({ principal, params, query }) => ({
      json: found(
        await findErasure(databases.of(principal, query.project_id), params.id),
        'erasure',
        params.id,
      ),
    }),
  })
}
