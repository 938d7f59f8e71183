import { z } from 'zod'
import type { Sealer } from '#runtime/sealing.ts'
import { idField, textField, timeField } from '#http/fields.ts'
import { route, type Route } from '#http/route.ts'
import { tagOf, taggedJson } from '#http/entity-tag.ts'
import { found } from '#http/problem.ts'
import { envelopeOf, listOf, pagingFields, readPaging, writeCursor } from '../http/paging.ts'
import { reportSources } from '../http/source-filter.ts'
import { refuseEndBeforeStart } from '../http/time-range.ts'
import { callsShownTo } from '../people/authenticate-people.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { createScoreStore } from '../stores/score-store.ts'
import { findSession, listSessions, readSession } from '../stores/session-store.ts'
import { presentScore, scoreSchema, shownTo } from './present-score.ts'
import { requestItemSchema } from './request-filters.ts'

const count = z.number().int()
const sessionSchema = z.object({
  session_id: z.string(),
  started_at: z.iso.datetime(),
  last_at: z.iso.datetime(),
  calls: count,
  tool_calls: count,
  failed: count,
  unsafe: count.describe('Calls whose worst label is `unsafe`.'),
  calls_are_exact: z.boolean().describe('False: only the last 500 calls are summed.'),
  agents: z.array(z.string()),
  models: z.array(z.string()),
  total_tokens: z.number().describe('Input and output, including cached and reasoning tokens.'),
  cost_usd: z.number(),
})
const projectField = {
  project_id: idField('project').optional().describe('Required from the operator; a key has its own.'),
}
const { page_size, cursor, limit } = pagingFields

interface SessionRoutesOptions {
  databases: ProjectDatabases
  sealer: Sealer
}

/** Sessions: calls that share a session_id. */
export function sessionRoutes(options: SessionRoutesOptions): Route[] {
  return [listRoute(options), getRoute(options)]
}

const common = { access: 'read', tag: 'Agents', method: 'get', polled: true } as const

function listRoute({ databases }: SessionRoutesOptions): Route {
  return route({
    ...common,
    path: '/api/sessions',
    summary:
      'Sessions by their latest call. Filters on calls select sessions; the sums are over all calls of each. A page may have fewer than requested: follow next_cursor.',
    query: z.strictObject({
      page_size,
      cursor,
      limit,
      ...projectField,
      agent_name: textField(256).optional(),
      user_id: textField(256).optional(),
      ...reportSources.fields,
      start: timeField.optional().describe('Sessions with calls from this time.'),
      end: timeField.optional().describe('Sessions with calls before this time.'),
    }),
    reply: { status: 200, description: 'Sessions.', schema: listOf(sessionSchema) },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'request')
      refuseEndBeforeStart(query)
      const database = databases.ofOne(principal, query.project_id)
      const filters = { ...query, ...reportSources.read(query) }
      const { items, next, startId, counted } = await listSessions(database, filters, paging)
      const cursor = next === null ? null : writeCursor(next, startId)
      return taggedJson(envelopeOf(paging, items, counted, cursor))
    },
  })
}

function getRoute({ databases, sealer }: SessionRoutesOptions): Route {
  return route({
    ...common,
    path: '/api/sessions/{id}',
    summary: 'One session: its calls and tool calls in order of time, with their scores.',
    params: z.object({ id: textField(256) }),
    query: z.strictObject({ page_size, cursor, limit, ...projectField }),
    reply: {
      status: 200,
      description: 'The session; bodies are at /api/requests/{id}.',
      schema: sessionSchema.extend({
        items: z.array(requestItemSchema.extend({ safety_scores: z.array(scoreSchema) })).optional(),
        data: z.array(requestItemSchema.extend({ safety_scores: z.array(scoreSchema) })).optional(),
        next_cursor: z.string().nullable().optional().describe('With `items`.'),
        limit: count.optional().describe('With `data`.'),
        has_more: z.boolean().optional().describe('With `data`: whether the session has more calls.'),
      }),
    },
    problems: { 404: 'There is no such session.' },
    async handle({ principal, params, query }) {
      const paging = readPaging(query, 'request')
      const database = databases.ofOne(principal, query.project_id)
      const session = found(await findSession(database, params.id), 'session', params.id)
      const calls = await readSession(database, params.id, paging)
      const shown = callsShownTo(principal, calls.slice(0, paging.limit))
      const scores = shownTo(principal, await createScoreStore(database).ofRequests(shown))
      const last = calls.length > paging.limit ? shown.at(-1) : undefined
      const next = last === undefined ? null : writeCursor(last.id)
      const around = {
        ...session,
        // Pages after a cursor have page_size: `limit` takes no cursor.
        ...(paging.form === 'items'
          ? { next_cursor: next }
          : { limit: paging.limit, has_more: next !== null }),
      }
      const present = (requestId: string) =>
        scores
          .filter(({ request_id }) => request_id === requestId)
          .map((score) => presentScore(score, sealer))
      return {
        etag: tagOf([
          around,
          shown,
          scores.map(({ id, details }) => [id, details === null ? 'none' : details.key_id]),
        ]),
        jsonText: () =>
          JSON.stringify({
            ...around,
            [paging.form]: shown.map((call) => ({ ...call, safety_scores: present(call.id) })),
          }),
      }
    },
  })
}
