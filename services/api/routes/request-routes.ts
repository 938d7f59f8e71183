import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { idTimeMs } from '#schemas/ids.ts'
import { sealedIdentity, type SealedBytes, type SealedPart } from '#schemas/sealed-bytes.ts'
import { scoreLabels, severities } from '#schemas/verdicts.ts'
import { idField, textField, timeField } from '#services/ingest/http/fields.ts'
import { invalidInput, Problem } from '#services/ingest/http/problem.ts'
import { route, type Route } from '#services/ingest/http/route.ts'
import { taggedJson } from '../http/entity-tag.ts'
import { notFound } from '../http/not-found.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import { writeJson } from '../http/write-json.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { createRequestStore, type RequestItem, type StoredBodies } from '../stores/request-store.ts'
import { createScoreStore } from '../stores/score-store.ts'
import { presentScore, scoreSchema } from './present-score.ts'

const metadataPrefix = 'metadata.'
const notStoredYetMs = 60_000

const filterSchema = z
  .object({
    ...pagingFields,
    project_id: idField('project').optional().describe("Of the operator; a key's is its own."),
    model: textField(256).optional(),
    provider: textField(64).optional(),
    agent_name: textField(256).optional(),
    session_id: textField(256).optional(),
    user_id: textField(256).optional(),
    type: textField(256).optional().describe('For instance `mcp_tool_call`.'),
    tool_name: textField(256).optional(),
    label: z.enum(scoreLabels).optional().describe("The worst, or with scorer_name that scorer's."),
    severity: z.enum(severities).optional().describe("The worst, or with scorer_name that scorer's."),
    scorer_name: textField(100).optional(),
    start: timeField.optional().describe('From then on.'),
    end: timeField.optional().describe('Before then.'),
  })
  .catchall(z.string())

const nullableText = z.string().nullable()
const nullableNumber = z.number().nullable()
const itemSchema = z.object({
  id: z.string(),
  project_id: z.string(),
  created_at: z.iso.datetime(),
  source: z.string(),
  model: z.string(),
  provider: nullableText,
  agent_name: nullableText,
  agent_tag: nullableText,
  session_id: nullableText,
  user_id: nullableText,
  type: nullableText,
  tool_name: nullableText,
  prompt_tokens: nullableNumber,
  completion_tokens: nullableNumber,
  cached_tokens: nullableNumber,
  reasoning_tokens: nullableNumber,
  cost_usd: nullableNumber,
  latency_ms: nullableNumber,
  time_to_first_token_ms: nullableNumber,
  status_code: nullableNumber,
  error: nullableText,
  aborted_by: nullableText,
  metadata: z.record(z.string(), z.unknown()).nullable(),
  zero_content_retention: z.boolean(),
  worst_label: z.enum(scoreLabels).nullable(),
  worst_severity: z.enum(severities).nullable(),
  score_count: z.number().int(),
})

const jsonObject = z.record(z.string(), z.unknown())
const detailSchema = itemSchema.extend({
  request_body: jsonObject.nullable(),
  response_body: jsonObject.nullable(),
  bodies_erased: z.boolean().describe('True once the bodies were erased.'),
  safety_scores: z.array(scoreSchema),
})

interface RequestRoutesOptions {
  databases: ProjectDatabases
  sealer: Sealer
  clock: Clock
}

/** Requests as they were recorded. */
export function requestRoutes(options: RequestRoutesOptions): Route[] {
  return [listRoute(options), getRoute(options)]
}

const common = { access: 'read', tag: 'Requests' } as const

function listRoute({ databases, clock }: RequestRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/requests',
    summary: 'List requests, newest first. Metadata is filtered by `metadata.<key>=<value>`.',
    query: filterSchema,
    polled: true,
    reply: { status: 200, description: 'Requests, without bodies.', schema: listOf(itemSchema) },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'request')
      if (query.start !== undefined && query.end !== undefined && query.start > query.end) {
        throw invalidInput([{ path: 'end', message: 'is before start' }])
      }
      const filters = { ...query, metadata: metadataOf(query) }
      const store = createRequestStore(databases.of(principal, query.project_id))
      const { items, counted } = await store.list(filters, paging, clock.now())
      return taggedJson(envelope(paging, items, counted))
    },
  })
}

/** The `metadata.<key>` parameters; any other that is not known is refused, because a misspelt filter would show everything. */
function metadataOf(query: Readonly<Record<string, unknown>>): Record<string, string> {
  const others = Object.entries(query).filter(([name]) => !Object.hasOwn(filterSchema.shape, name))
  const unknown = others.filter(([name]) => !name.startsWith(metadataPrefix) || name === metadataPrefix)
  if (unknown.length > 0)
    throw invalidInput(unknown.map(([path]) => ({ path, message: 'is not known here' })))
  const texts = z.record(textField(256), textField(1_024)).safeParse(Object.fromEntries(others))
  if (!texts.success) {
    throw invalidInput(texts.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })))
  }
  return Object.fromEntries(
    Object.entries(texts.data).map(([name, value]) => [name.slice(metadataPrefix.length), value]),
  )
}

function getRoute({ databases, sealer, clock }: RequestRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/requests/{id}',
    summary: 'One request with its bodies and safety scores.',
    params: z.object({ id: idField('request') }),
    query: z.strictObject({ project_id: idField('project').optional() }),
    reply: { status: 200, description: 'The request.', schema: detailSchema },
    problems: {
      404: 'There is no such request; code NOT_STORED_YET when it was made less than a minute ago.',
    },
    async handle({ principal, params: { id }, query }) {
      const store = createRequestStore(databases.of(principal, query.project_id))
      const item = await store.find(id)
      if (item === undefined) throw missing(id, clock.now())
      const scores = createScoreStore(databases.ofOne(principal, item.project_id))
      const [bodies, scored] = await Promise.all([store.findBodies(id), scores.ofRequest(id)])
      return {
        jsonText: detailOf(
          item,
          bodies,
          scored.map((score) => presentScore(score, sealer)),
          sealer,
        ),
      }
    },
  })
}

function missing(id: string, nowMs: number): Problem {
  const ageMs = nowMs - idTimeMs(id)
  if (Math.abs(ageMs) >= notStoredYetMs) return notFound('request', id)
  return new Problem(404, 'NOT_STORED_YET', `request ${id} is not stored yet, or there is none`, {
    headers: { 'retry-after': '1' },
  })
}

function detailOf(
  item: RequestItem,
  bodies: StoredBodies | undefined,
  scores: readonly object[],
  sealer: Sealer,
): string {
  const open = (sealed: SealedBytes | null | undefined, part: SealedPart) =>
    sealed === null || sealed === undefined
      ? Buffer.from('null')
      : openBody(sealer, sealed, sealedIdentity(item.project_id, item.id, part))
  return writeJson(
    {
      ...item,
      bodies_erased: bodies === undefined && !item.zero_content_retention,
      safety_scores: scores,
    },
    // As the bytes that came: integers beyond 2^53 keep their digits.
    {
      request_body: open(bodies?.request, 'request_body'),
      response_body: open(bodies?.response, 'response_body'),
    },
  )
}

function openBody(sealer: Sealer, sealed: SealedBytes, identity: string): Buffer {
  try {
    return sealer.open(sealed, identity)
  } catch (error) {
    throw new Problem(
      500,
      'BODY_UNREADABLE',
      'the bodies are encrypted with a key that the API does not have',
      {
        cause: error,
      },
    )
  }
}
