import type { Pool } from 'pg'
import { z } from 'zod'
import type { Principal } from '#http/access/principal.ts'
import { idField, textField, timeField } from '#http/fields.ts'
import { found, notFound, type Problem } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import type { Drop } from '../dead-letters/drop.ts'
import type { Redrive } from '../dead-letters/redrive.ts'
import type { ShowContent } from '../dead-letters/show-content.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import { refuseEndBeforeStart } from '../http/time-range.ts'
import {
  deadLetterStatuses,
  findDeadLetter,
  listDeadLetters,
  openDeadLetters,
  sendableDeadLetters,
} from '../stores/dead-letter-store.ts'
import type { ProjectDatabase, ProjectDatabases } from '../stores/project-database.ts'

const deadLetterSchema = z.object({
  id: z.string(),
  topic: z.string().describe('The original topic; the letter is in `<topic>.dlq`.'),
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
const contentSchema = z.object({
  content: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('Sealed values are shown as size and key name; long texts and lists are truncated.'),
  reason: z.string().nullable().describe('Why there is no content.'),
})
const letterParams = z.object({ id: idField('deadLetter') })
const whichFields = {
  topic: textField(200).optional().describe('`llm.request.logged`: without prefix and without `.dlq`.'),
  code: textField(200).optional(),
  project_id: idField('project').optional(),
  start: timeField.optional(),
  end: timeField.optional(),
}
const roundFields = {
  ...whichFields,
  after: idField('deadLetter').optional().describe('`next` of the round before.'),
  limit: z.number().int().min(1).max(500).default(100),
}
const reasonField = textField(1_000)
const roundReply = {
  failed: z.array(z.object({ id: z.string(), code: z.string(), detail: z.string() })),
  next: z.string().nullable().describe('Send it as `after` of the next round; null: none is left.'),
}

export interface DeadLetterRoutesOptions {
  databases: ProjectDatabases
  pool: Pool
  redrive: Redrive
  showContent: ShowContent
  drop: Drop
}

/** The operator's routes for dead letters. */
export function deadLetterRoutes(options: DeadLetterRoutesOptions): Route[] {
  return [
    listRoute(options),
    getRoute(options),
    contentRoute(options),
    redriveManyRoute(options),
    redriveRoute(options),
    dropManyRoute(options),
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
    summary: 'Records that consumers gave up, newest first, without their content.',
    query: z.strictObject({
      ...pagingFields,
      ...whichFields,
      status: z.enum(deadLetterStatuses).optional(),
    }),
    reply: { status: 200, description: 'Dead letters.', schema: listOf(deadLetterSchema) },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'deadLetter')
      refuseEndBeforeStart(query)
      const database = everyProject(databases, principal)
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

function contentRoute({ pool, showContent }: DeadLetterRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/dead-letters/{id}/content',
    summary: 'The decoded content of its record. Each view is written to the audit log.',
    params: letterParams,
    reply: { status: 200, description: 'The record, or why it is not shown.', schema: contentSchema },
    problems: missing,
    async handle({ principal, params }) {
      const letter = found(await findDeadLetter(pool, params.id), 'dead letter', params.id)
      return { json: await showContent(principal, letter) }
    },
  })
}

function redriveRoute({ pool, redrive }: DeadLetterRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/dead-letters/{id}/redrive',
    summary: 'Send it to its original topic, byte for byte. Repeating the request changes nothing.',
    params: letterParams,
    reply,
    problems: {
      ...missing,
      409: 'It was dropped, or its value was not kept.',
      410: 'Kafka keeps its record no longer.',
    },
    async handle({ principal, params }) {
      const [result] = await redrive(principal, [params.id])
      if (result === undefined) throw notFound('dead letter', params.id)
      if (result.problem !== null) throw result.problem
      return { json: found(await findDeadLetter(pool, params.id), 'dead letter', params.id) }
    },
  })
}

function dropRoute({ pool, drop }: DeadLetterRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/dead-letters/{id}/drop',
    summary: 'Close it without sending it, with a reason.',
    params: letterParams,
    body: z.strictObject({ reason: reasonField }),
    reply,
    problems: { ...missing, 409: 'It was sent again already.' },
    async handle({ principal, params, body }) {
      const [result] = await drop(principal, [params.id], body.reason)
      if (result === undefined) throw notFound('dead letter', params.id)
      if (result.problem !== null) throw result.problem
      return { json: found(await findDeadLetter(pool, params.id), 'dead letter', params.id) }
    },
  })
}

function redriveManyRoute({ databases, redrive }: DeadLetterRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/dead-letters/redrive',
    summary:
      'Send the oldest open ones that pass the filter. Repeat with `next` as `after` until it is null.',
    body: z.strictObject(roundFields),
    reply: {
      status: 200,
      description: 'The outcomes.',
      schema: z.object({ redriven: z.number().int(), ...roundReply }),
    },
    async handle({ principal, body }) {
      refuseEndBeforeStart(body)
      const database = everyProject(databases, principal)
      const ids = await sendableDeadLetters(database, body)
      const { done, ...rest } = roundOf(ids, await redrive(principal, ids))
      return { json: { redriven: done, ...rest } }
    },
  })
}

function dropManyRoute({ databases, drop }: DeadLetterRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/dead-letters/drop',
    summary:
      'Drop the oldest open ones that pass the filter, with a reason. Repeat with `next` as `after` until it is null.',
    body: z.strictObject({ ...roundFields, reason: reasonField }),
    reply: {
      status: 200,
      description: 'The outcomes.',
      schema: z.object({ dropped: z.number().int(), ...roundReply }),
    },
    async handle({ principal, body }) {
      refuseEndBeforeStart(body)
      const database = everyProject(databases, principal)
      const ids = await openDeadLetters(database, body)
      const { done, ...rest } = roundOf(ids, await drop(principal, ids, body.reason))
      return { json: { dropped: done, ...rest } }
    },
  })
}

/** Only the operator's connection sees the table, so the project is a condition. */
function everyProject(databases: ProjectDatabases, principal: Principal): ProjectDatabase {
  return databases.of(principal, undefined)
}

/** Failed letters stay open: the next round must start after them, or it would see only those. */
function roundOf(ids: readonly string[], results: readonly { id: string; problem: Problem | null }[]) {
  const failed = results.flatMap(({ id, problem }) =>
    problem === null ? [] : [{ id, code: problem.code, detail: problem.message }],
  )
  return { done: results.length - failed.length, failed, next: ids.at(-1) ?? null }
}
