import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { route, type Route } from '#http/route.ts'
import type { Paging } from '../http/paging.ts'
import { writeCsvLine } from '../http/write-csv.ts'
import type { ProjectDatabase, ProjectDatabases } from '../stores/project-database.ts'
import { createRequestStore, type RequestItem } from '../stores/request-store.ts'
import type { RequestFilters } from '../stores/select-requests.ts'
import type { StreamPermits } from './stream-permits.ts'
import { metadataParameters } from './metadata-fields.ts'
import { readFilters, requestFilterFields, requestItemSchema, scorerItemFields } from './request-filters.ts'

/**
 * Rows per page: enough that the round trip does not matter, few enough that a slow client holds under half a
 * megabyte.
 */
const pageRows = 500

const formatField = { format: z.enum(['csv', 'jsonl']).default('csv') }

const columns = Object.keys(requestItemSchema.shape) as (keyof RequestItem)[]
const scorerColumns = [...columns, ...Object.keys(scorerItemFields)] as (keyof RequestItem)[]

interface ExportRoutesOptions {
  databases: ProjectDatabases
  clock: Clock
  permits: StreamPermits
}

/** Requests as a file. */
export function exportRoutes({ databases, clock, permits }: ExportRoutesOptions): Route[] {
  return [
    route({
      access: 'read',
      tag: 'Requests',
      method: 'get',
      path: '/api/requests/export',
      summary:
        "All requests that pass the list's filters, newest first, as CSV or JSON lines, without bodies.",
      query: z.object({ ...requestFilterFields, ...formatField }).catchall(z.string()),
      openParameters: metadataParameters,
      reply: {
        status: 200,
        description: 'Streamed rows. An answer without its last chunk is incomplete.',
        contentTypes: ['text/csv', 'application/x-ndjson'],
      },
      problems: { 429: 'Too many exports are in progress.' },
      async handle({ principal, query: { format, ...query } }) {
        const filters = readFilters(query, formatField)
        const database = databases.of(principal, query.project_id)
        const chunks = await permits.stream(database.scope.projectId, async () => {
          const pages = readPages(database, filters, clock)
          // Read before the answer starts, so that an invalid query gets its error and no audit entry.
          const first = await pages.next()
          await database.noteView(
            { action: 'requests.exported', subject: database.scope.projectId },
            clock.now(),
          )
          const csvColumns = filters.scorer_name === undefined ? columns : scorerColumns
          return write(first, pages, format === 'csv' ? csvColumns : undefined)
        })
        return {
          headers: { 'content-disposition': `attachment; filename="requests.${format}"` },
          stream: { contentType: format === 'csv' ? 'text/csv' : 'application/x-ndjson', chunks },
        }
      },
    }),
  ]
}

/** By cursor, each page in its own statement: no transaction waits for the client. */
async function* readPages(
  database: ProjectDatabase,
  filters: RequestFilters,
  clock: Clock,
): AsyncGenerator<RequestItem[], undefined> {
  const store = createRequestStore(database)
  let position: Pick<Paging, 'after' | 'afterProject'> = { after: null }
  for (;;) {
    const paging = { limit: pageRows, offset: 0, ...position, page: 1, form: 'items' } as const
    const rows: RequestItem[] = await store.page(filters, paging, clock.now())
    yield rows.slice(0, pageRows)
    const last = rows[pageRows - 1]
    if (rows.length <= pageRows || last === undefined) return
    position = { after: last.id, afterProject: last.project_id }
  }
}

/** JSON lines when there are no `csvColumns`. */
async function* write(
  first: IteratorResult<RequestItem[], undefined>,
  rest: AsyncGenerator<RequestItem[], undefined>,
  csvColumns: readonly (keyof RequestItem)[] | undefined,
): AsyncGenerator<string> {
  const line = (item: RequestItem) =>
    csvColumns === undefined
      ? `${JSON.stringify(item)}\n`
      : writeCsvLine(csvColumns.map((name) => item[name]))
  if (csvColumns !== undefined) yield writeCsvLine(csvColumns)
  if (first.done !== true) yield first.value.map(line).join('')
  for await (const page of rest) yield page.map(line).join('')
}
