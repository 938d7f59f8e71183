import type { Pool } from 'pg'
import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { idField, textField, timeField } from '#services/ingest/http/fields.ts'
import { Problem } from '#services/ingest/http/problem.ts'
import { route, type Route } from '#services/ingest/http/route.ts'
import type { Redrive } from '../dead-letters/redrive.ts'
import { found, notFound } from '../http/not-found.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import {
  deadLetterStatuses,
  decideDeadLetters,
  findDeadLetter,
  listDeadLetters,
  lockDeadLetters,
  openDeadLetters,
} from '../stores/dead-letter-store.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'

const deadLetterSchema = z.object({
  id: z.string(),
  topic: z.string().describe('Where it came from; it stands in `<topic>.dlq`.'),
  partition: z.number().int(),
  offset: z.number().int(),
  source_partition: z.number().int().nullable(),
  source_offset: z.number().int().nullable(),
  group_id: z.string().nullable().describe('The consumer group that gave it up.'),
  code: z.string(),
  message: z.string(),
  key: z.string().nullable(),
  project_id: z.string().nullable(),
  request_id: z.string().nullable(),
  value_bytes: z.number().int().nullable().describe('Null: its value was not kept.'),
  dead_at: z.iso.datetime(),
  status: z.enum(deadLetterStatuses),
  decided_at: z.iso.datetime().nullable(),
  reason: z.string().nullable(),
})
const letterParams = z.object({ id: idField('deadLetter') })
const whichFields = {
  topic: textField(200).optional().describe('`llm.request.logged`: without prefix and without `.dlq`.'),
  code: textField(200).optional(),
  project_id: idField('project').optional(),
  start: timeField.optional(),
  end: timeField.optional(),
}

export interface DeadLetterRoutesOptions {
  databases: ProjectDatabases
  pool: Pool
  redrive: Redrive
  clock: Clock
}

/** The operator's routes for what consumers could not handle. */
export function deadLetterRoutes(options: DeadLetterRoutesOptions): Route[] {
  return [
    listRoute(options),
    getRoute(options),
    redriveManyRoute(options),
    redriveRoute(options),
    dropRoute(options),
  ]
}

const common = { access: 'operator', tag: 'Dead letters' } as const
const reply = { status: 200, description: 'The dead letter.', schema: deadLetterSchema } as const
const missing = { 404: 'There is no such dead letter.' } as const

function listRoute({ databases }: DeadLetterRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/dead-letters',
    summary: 'Records that consumers gave up, newest first. What they hold is not shown.',
    query: z.strictObject({
      ...pagingFields,
      ...whichFields,
      status: z.enum(deadLetterStatuses).optional(),
    }),
    reply: { status: 200, description: 'Dead letters.', schema: listOf(deadLetterSchema) },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'deadLetter')
      const database = databases.of(principal, query.project_id)
      const { items, counted } = await listDeadLetters(database, query, paging)
      return { json: envelope(paging, items, counted) }
    },
  })
}

function getRoute({ pool }: DeadLetterRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/dead-letters/{id}',
    summary: 'One dead letter.',
    params: letterParams,
    reply,
    problems: missing,
    handle: async ({ params }) => ({
      json: found(await findDeadLetter(pool, params.id), 'dead letter', params.id),
    }),
  })
}

function redriveRoute({ pool, redrive }: DeadLetterRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/dead-letters/{id}/redrive',
    summary: 'Send it to the topic it came from, byte for byte, once: asking again changes nothing.',
    params: letterParams,
    reply,
    problems: {
      ...missing,
      409: 'It was dropped, or its value was not kept.',
      410: 'Kafka keeps its record no longer.',
    },
    async handle({ params }) {
      const [result] = await redrive([params.id])
      if (result === undefined) throw notFound('dead letter', params.id)
      if (result.problem !== null) throw result.problem
      return { json: found(await findDeadLetter(pool, params.id), 'dead letter', params.id) }
    },
  })
}

function dropRoute({ pool, clock }: DeadLetterRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/dead-letters/{id}/drop',
    summary: 'Decide that it needs nothing more, and say why.',
    params: letterParams,
    body: z.strictObject({ reason: textField(1_000) }),
    reply,
    problems: { ...missing, 409: 'It was sent again already.' },
    async handle({ params, body }) {
      await inTransaction(pool, async (client) => {
        const [letter] = await lockDeadLetters(client, [params.id])
        if (letter === undefined) throw notFound('dead letter', params.id)
        if (letter.status === 'redriven') {
          throw new Problem(409, 'DEAD_LETTER_REDRIVEN', `${letter.id} was sent again already`)
        }
        // The first reason stays.
        if (letter.status === 'dropped') return
        await decideDeadLetters(client, [letter.id], {
          status: 'dropped',
          reason: body.reason,
          nowMs: clock.now(),
        })
      })
      return { json: found(await findDeadLetter(pool, params.id), 'dead letter', params.id) }
    },
  })
}

function redriveManyRoute({ databases, redrive }: DeadLetterRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/dead-letters/redrive',
    summary: 'Send the oldest open ones that pass the filter. Ask again until none is left.',
    body: z.strictObject({ ...whichFields, limit: z.number().int().min(1).max(500).default(100) }),
    reply: {
      status: 200,
      description: 'What became of them.',
      schema: z.object({
        redriven: z.number().int(),
        failed: z.array(z.object({ id: z.string(), code: z.string(), detail: z.string() })),
      }),
    },
    async handle({ principal, body }) {
      const database = databases.of(principal, body.project_id)
      const results = await redrive(await openDeadLetters(database, body, body.limit))
      const failed = results.flatMap(({ id, problem }) =>
        problem === null ? [] : [{ id, code: problem.code, detail: problem.message }],
      )
      return { json: { redriven: results.length - failed.length, failed } }
    },
  })
}
