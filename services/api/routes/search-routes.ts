import { z } from 'zod'
import { createHashWord } from '#capture/search/search-signature.ts'
import { readSearch } from '#capture/search/search-query.ts'
import type { Clock } from '#runtime/clock.ts'
import type { EncryptionKey } from '#runtime/encryption-keys.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { idField, textField } from '#http/fields.ts'
import { invalidInput, Problem } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import type { FindThread } from '../search/find-thread.ts'
import { searchCalls, type SearchEvent } from '../search/search-calls.ts'
import type { ClaimSlot } from '../search/search-slots.ts'
import { withoutKeys } from '../search/search-steps.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { metadataParameters } from './metadata-fields.ts'
import { readFilters, requestFilterFields, requestItemSchema } from './request-filters.ts'
import { createStreamPermits, type StreamLimits } from './stream-permits.ts'

/** Afterwards the client may go on from where it ended. */
const maxMs = 120_000
const limits = {
  noun: 'searches',
  refuse: (detail, options) => new Problem(429, 'SEARCHES_BUSY', detail, options),
  max: 4,
  maxMs: 2 * maxMs,
} satisfies StreamLimits

const count = z.number().int()
const progressFields = {
  looked_at: count.describe('Calls whose signature, or its absence, was looked at.'),
  opened: count.describe('Calls that were decrypted.'),
  unsigned: count.describe('Calls without a signature of a configured key: all of them are opened.'),
  unreadable: count.describe('Calls that could not be opened: BODY_ENCRYPTION_KEYS lacks their key.'),
  reached: z.iso.datetime().describe('All calls of the range that are newer have been looked through.'),
  share: z.number().describe('How much of the time range that is, 0 to 1.'),
}
const marks = z.array(z.object({ start: count, end: count }))
const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), ...progressFields }),
  z.object({
    type: z.literal('match'),
    request: requestItemSchema,
    excerpts: z.array(
      z.object({
        part: z.enum(['request', 'response']),
        text: z.string(),
        marks: marks.describe('What was found in `text`, in UTF-16 units.'),
      }),
    ),
  }),
  z.object({
    type: z.literal('end'),
    reason: z.enum(['complete', 'limit', 'time']),
    after: z.string().nullable().describe('For the next search, which goes on there. Null: complete.'),
    ...progressFields,
  }),
])

interface SearchRoutesOptions {
  databases: ProjectDatabases
  keys: readonly EncryptionKey[]
  thread: FindThread
  claimSlot: ClaimSlot
  clock: Clock
  metrics: Metrics
}

/** Words in sealed bodies. */
export function searchRoutes(options: SearchRoutesOptions): Route[] {
  const { databases, keys, thread, claimSlot, clock, metrics } = options
  const hashers = keys.map((key) => ({ keyId: key.id, hash: createHashWord(key) }))
  const permits = createStreamPermits(clock, { ...limits, claim: claimSlot })
  const counted = countSearches(metrics)
  return [
    route({
      access: 'read',
      tag: 'Requests',
      method: 'post',
      path: '/api/requests/search',
      summary:
        'Search prompts, answers and tool arguments for words and "phrases", newest first. To cancel, disconnect.',
      query: z.object(requestFilterFields).catchall(z.string()),
      openParameters: metadataParameters,
      body: z.strictObject({
        text: textField(256).describe('All words must occur; those in quotation marks in this order.'),
        limit: z.number().int().min(1).max(200).default(50).describe('Matches at most.'),
        after: idField('request').optional().describe('Goes on behind this call.'),
      }),
      reply: {
        status: 200,
        description: 'A JSON object a line, as it happens. An answer without its `end` is incomplete.',
        schema: eventSchema,
        contentTypes: ['application/x-ndjson'],
      },
      problems: { 429: 'Two searches of the project are under way.' },
      async handle({ principal, query, body: { text, limit: maxMatches, after } }) {
        const filters = readFilters(query, {})
        if (readSearch(text) === undefined)
          throw invalidInput([
            { path: 'text', message: 'needs a word, and takes at most ten words or phrases' },
          ])
        const database = databases.ofOne(principal, query.project_id)
        const chunks = await permits.stream(database.scope.projectId, async () => {
          await database.note(
            { action: 'requests.searched', subject: withoutKeys(text), detail: { ...query } },
            clock.now(),
          )
          const dependencies = { database, hashers, thread, clock, maxMs }
          return lines(counted(searchCalls(dependencies, { text, filters, after, maxMatches })))
        })
        return { stream: { contentType: 'application/x-ndjson', chunks } }
      },
    }),
  ]
}

async function* lines(events: AsyncIterable<SearchEvent>): AsyncGenerator<string> {
  for await (const event of events) yield `${JSON.stringify(event)}\n`
}

/** Counts what each search did, also when its client left. */
function countSearches(metrics: Metrics) {
  const searches = metrics.counter(
    'sluice_api_searches_total',
    'Searches by how they ended: `complete`, `limit`, `time`, or `left` by the client or an error',
    ['outcome'],
  )
  const calls = metrics.counter(
    'sluice_api_searched_calls_total',
    'Calls of searches: `looked_at`, `opened`, `unsigned`, `unreadable`',
    ['what'],
  )
  return async function* (events: AsyncIterable<SearchEvent>): AsyncGenerator<SearchEvent> {
    let last: Exclude<SearchEvent, { type: 'match' }> | undefined
    try {
      for await (const event of events) {
        if (event.type !== 'match') last = event
        yield event
      }
    } finally {
      searches.inc({ outcome: last?.type === 'end' ? last.reason : 'left' })
      for (const what of ['looked_at', 'opened', 'unsigned', 'unreadable'] as const)
        calls.inc({ what }, last?.[what] ?? 0)
    }
  }
}
