import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { readScores } from '#schemas/call-reading.ts'
import { idTimeMs } from '#schemas/ids.ts'
import { sealedIdentity, type SealedBytes, type SealedPart } from '#schemas/sealed-bytes.ts'
import { idField } from '#http/fields.ts'
import { invalidInput, Problem, notFound } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { taggedJson } from '#http/entity-tag.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import { callsShownTo, mayReadContent } from '../people/authenticate-people.ts'
import type { ProjectDatabase, ProjectDatabases } from '../stores/project-database.ts'
import { fieldsOfReading, type ReadingFields } from '../stores/reading-fields.ts'
import { createRequestStore, type RequestItem, type StoredBodies } from '../stores/request-store.ts'
import { createScoreStore, type StoredScore } from '../stores/score-store.ts'
import { findSessionNeighbours, type SessionNeighbours } from '../stores/session-neighbours.ts'
import { presentScore, scoreSchema, shownTo } from './present-score.ts'
import { rowNoteFields, withNotes } from './note-rows.ts'
import { metadataParameters } from './metadata-fields.ts'
import { readFilters, requestFilterFields, requestItemSchema, scorerItemFields } from './request-filters.ts'

const listQuerySchema = z.object({ ...pagingFields, ...requestFilterFields }).catchall(z.string())
const notStoredYetMs = 60_000

const listItemSchema = requestItemSchema.extend({ ...scorerItemFields, ...rowNoteFields })
const jsonObject = z.record(z.string(), z.unknown())
const detailSchema = requestItemSchema.extend({
  request_body: jsonObject.nullable(),
  response_body: jsonObject.nullable(),
  bodies_erased: z.boolean().describe('Whether the bodies were erased.'),
  bodies_withheld: z.boolean().describe('Whether the caller may not read bodies.'),
  previous_in_session: z.string().nullable().describe('The call before it in its session, within a week.'),
  next_in_session: z.string().nullable(),
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

function listRoute({ databases, sealer, clock }: RequestRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/requests',
    summary: 'List requests, newest first. Metadata is filtered by `metadata.<key>=<value>`.',
    query: listQuerySchema,
    openParameters: metadataParameters,
    polled: true,
    reply: { status: 200, description: 'Requests, without bodies.', schema: listOf(listItemSchema) },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'request')
      const filters = readFilters(query, pagingFields)
      const database = databases.of(principal, query.project_id)
      const { items, counted } = await createRequestStore(database).list(filters, paging, clock.now())
      const projectOf = (item: RequestItem) =>
        database.scope.projectId === null ? item.project_id : undefined
      const noted = await withNotes(database, { principal, sealer }, callsShownTo(principal, items))
      if (noted.some(({ preview }) => preview !== null)) {
        const subject = database.scope.projectId ?? 'every project'
        await database.noteView({ action: 'requests.previews_viewed', subject }, clock.now())
      }
      return taggedJson(envelope(paging, noted, counted, projectOf))
    },
  })
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
      500: 'Code BODY_UNREADABLE: the bodies are encrypted with a key that the API does not have.',
    },
    async handle({ principal, params: { id }, query }) {
      const found = await findItem(databases.ofAny(principal, query.project_id), id)
      const [first] = callsShownTo(principal, found === undefined ? [] : [found])
      if (first === undefined) throw missing(id, clock.now())
      const database = databases.ofOne(principal, first.project_id)
      const [bodies, scores, neighbours] = await Promise.all([
        createRequestStore(database).findBodies(id),
        createScoreStore(database).ofRequest(id),
        findSessionNeighbours(database, first),
      ])
      // The verdict was read first and lacks scores that were stored since.
      const current = scores.length === first.score_count ? undefined : await findItem(database, id)
      const [item = first] = callsShownTo(principal, current === undefined ? [] : [current])
      const isShown = mayReadContent(principal)
      if (isShown) await database.noteView({ action: 'request.content_viewed', subject: id }, clock.now())
      return {
        jsonText: detailOf(
          { ...item, ...neighbours, ...readingOf(item, scores) },
          isShown ? bodies : 'withheld',
          shownTo(principal, scores).map((score) => presentScore(score, sealer)),
          sealer,
        ),
      }
    },
  })
}

/** Of an older call it may not be derived yet; its scores are here. */
function readingOf({ verdict }: RequestItem, scores: readonly StoredScore[]): Partial<ReadingFields> {
  return verdict === null && scores.length > 0 ? fieldsOfReading(readScores(scores), scores.length) : {}
}

/**
 * A link to a request (`report_url`) does not name its project. Throws 422 when several projects have the id.
 */
async function findItem(database: ProjectDatabase, id: string): Promise<RequestItem | undefined> {
  const [item, other] = await createRequestStore(database).find(id)
  if (other !== undefined)
    throw invalidInput([{ path: 'project_id', message: 'is required: several projects have this request' }])
  return item
}

function missing(id: string, nowMs: number): Problem {
  const ageMs = nowMs - idTimeMs(id)
  if (Math.abs(ageMs) >= notStoredYetMs) return notFound('request', id)
  return new Problem(404, 'NOT_STORED_YET', `request ${id} is not stored yet, or there is none`, {
    headers: { 'retry-after': '1' },
  })
}

function detailOf(
  item: RequestItem & SessionNeighbours,
  bodies: StoredBodies | 'withheld' | undefined,
  scores: readonly object[],
  sealer: Sealer,
): string {
  const open = (sealed: SealedBytes | null | undefined, part: SealedPart) =>
    sealed === null || sealed === undefined
      ? Buffer.from('null')
      : openBody(sealer, sealed, sealedIdentity(item.project_id, item.id, part))
  const isWithheld = bodies === 'withheld'
  const known = isWithheld ? undefined : bodies
  return writeJson(
    {
      ...item,
      bodies_withheld: isWithheld,
      bodies_erased: bodies === undefined && !item.zero_content_retention,
      safety_scores: scores,
    },
    // The original bytes: integers beyond 2^53 keep their digits.
    {
      request_body: open(known?.request, 'request_body'),
      response_body: open(known?.response, 'response_body'),
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

/** JSON text of `object` plus members whose values are JSON already and stay byte for byte. */
function writeJson(object: Readonly<Record<string, unknown>>, raw: Readonly<Record<string, Buffer>>): string {
  const members = Object.entries(raw).map(
    ([name, json]) => `${JSON.stringify(name)}:${json.toString('utf8')}`,
  )
  const text = JSON.stringify(object)
  const separator = text === '{}' || members.length === 0 ? '' : ','
  return `${text.slice(0, -1)}${separator}${members.join(',')}}`
}
