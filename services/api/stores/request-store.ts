import { idFromUuid, idTimeMs, idToUuid } from '#schemas/ids.ts'
import { sealedBodiesOf, type SealedBodyColumns, type SealedBytes } from '#schemas/sealed-bytes.ts'
import type { ScoreLabel, Severity } from '#schemas/verdicts.ts'
import { invalidInput } from '#http/problem.ts'
import type { Counted, Paging } from '../http/paging.ts'
import { findByMetadata } from './find-by-metadata.ts'
import { findCountedHours, type CountedHours } from './find-counted-hours.ts'
import { listRows, readPage, withRead, type ListStatement } from './list-rows.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import { withReading, type ReadingColumns, type ReadingFields } from './reading-fields.ts'
import { requestColumns, verdictOf, type PlainColumn, type RequestKey } from './request-columns.ts'
import { findReviewed } from './review-filter.ts'
import { isOfFew, selectAmong, selectRequests, type RequestFilters } from './select-requests.ts'

/** A request in lists: everything but the bodies. */
export type RequestItem = Record<PlainColumn, unknown> &
  ReadingFields & {
    id: string
    project_id: string
    created_at: string
    worst_label: ScoreLabel | null
    worst_severity: Severity | null
    score_count: number
    /** The label by the scorer of the filter. */
    scorer_label?: ScoreLabel
    scorer_severity?: Severity | null
    scorer_value?: number | null
  }

export interface StoredBodies {
  request: SealedBytes | null
  response: SealedBytes | null
}

const countColumns = ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'] as const

export type RequestRow = Omit<RequestItem, 'created_at' | keyof ReadingFields> &
  ReadingColumns & { created_at: Date }

/** The statement for the calls that pass filters. */
function createSelect(database: ProjectDatabase) {
  // An export reads many pages with the same filters: their hours are read once.
  const known = new WeakMap<RequestFilters, Promise<CountedHours | undefined>>()
  return async (filters: RequestFilters, nowMs: number) => {
    const { projectId } = database.scope
    const { review } = filters
    if (projectId !== null && review !== undefined && review !== 'unreviewed')
      return selectAmong(filters, projectId, await findReviewed(database, review, filters))
    const asked = known.get(filters) ?? findHours(database, filters, nowMs)
    known.set(filters, asked)
    return selectWithin(filters, projectId, await asked, nowMs)
  }
}

/** Requests of the projects in the scope of `database`. */
export function createRequestStore(database: ProjectDatabase) {
  const select = createSelect(database)
  return {
    /** Newest first, without bodies. */
    async list(
      filters: RequestFilters,
      paging: Paging,
      nowMs: number,
    ): Promise<{ items: RequestItem[]; counted: Counted }> {
      const { projectId } = database.scope
      const { rows, counted } =
        projectId === null || Object.keys(filters.metadata).length === 0
          ? await listRows<RequestRow>(database, paging, await select(filters, nowMs))
          : await listByMetadata(database, paging, { filters, projectId })
      return { items: rows.map(itemOf), counted }
    },

    /** The same page without a count. */
    async page(filters: RequestFilters, paging: Paging, nowMs: number): Promise<RequestItem[]> {
      const statement = await select(filters, nowMs)
      return (await readPage<RequestRow>(database, paging, statement)).map(itemOf)
    },

    /** Columns of the newest that pass, unordered; one more than `limit` if more exist. */
    async pick<R extends object>(
      filters: RequestFilters,
      columns: string,
      limit: number,
      nowMs: number,
    ): Promise<R[]> {
      const statement = { ...(await select(filters, nowMs)), picked: columns }
      const paging = { limit, offset: 0, after: null, page: 1, form: 'items' } as const
      return readPage<R & Record<string, unknown>>(database, paging, statement)
    },

    /** Those of `keys`, newest first, that pass the filters; their time is not looked at. */
    async among(filters: RequestFilters, keys: readonly RequestKey[]): Promise<RequestItem[]> {
      const { projectId } = database.scope
      if (projectId === null) throw new Error('only the calls of one project')
      const paging = { limit: keys.length, offset: 0, after: null, page: 1, form: 'items' } as const
      const rows = await readPage<RequestRow>(database, paging, selectAmong(filters, projectId, keys))
      return rows.map(itemOf)
    },

    /** One per project that has the id. */
    async find(requestId: string): Promise<RequestItem[]> {
      // The time in the id leads to its only partition.
      const rows = await database.query<RequestRow>(
        `select ${requestColumns('r')} from llm_requests r ${verdictOf('r', (column) => ` and ${column} = $3`)}
         where :scope(r) and r.id = $2 and r.created_at = $3`,
        [idToUuid(requestId), new Date(idTimeMs(requestId))],
      )
      return rows.map(itemOf)
    },

    /** Undefined once erased, or if never kept. */
    async findBodies(requestId: string): Promise<StoredBodies | undefined> {
      const [row] = await database.query<SealedBodyColumns>(
        `select request_codec, request_key_id, request_data, response_codec, response_key_id, response_data
         from llm_request_bodies b where :scope(b) and b.request_id = $2 and b.created_at = $3`,
        [idToUuid(requestId), new Date(idTimeMs(requestId))],
      )
      return row && sealedBodiesOf(row)
    },
  }
}

async function findHours(
  database: ProjectDatabase,
  filters: RequestFilters,
  nowMs: number,
): Promise<CountedHours | undefined> {
  // Only one project's roll-ups avoid a scan of all its calls.
  if (filters.label === 'pending' && database.scope.projectId === null)
    throw invalidInput([{ path: 'project_id', message: 'is required with label=pending' }])
  if (database.scope.projectId === null || isOfFew(filters)) return undefined
  return findCountedHours(database as ProjectDatabase<OneProject>, filters, nowMs)
}

function selectWithin(
  filters: RequestFilters,
  projectId: string | null,
  counted: CountedHours | undefined,
  nowMs: number,
): ListStatement {
  const { start, end } = counted ?? filters
  return {
    ...selectRequests(
      // Missing verdicts are looked up on the same days.
      filters.label === 'pending' ? { ...filters, start, end } : filters,
      projectId,
      isOfFew(filters) || counted?.isRarerThanLabel === true,
    ),
    days: { nowMs, startMs: start, endMs: end, ranges: counted?.ranges },
  }
}

/**
 * Rare metadata is found by its index, frequent metadata by the ordinary scan. Three queries: the candidates,
 * those that pass, and the page.
 */
async function listByMetadata(
  database: ProjectDatabase,
  paging: Paging,
  { filters, projectId }: { filters: RequestFilters; projectId: string },
): Promise<{ rows: RequestRow[]; counted: Counted }> {
  const { keys, isComplete } = await findByMetadata(database, filters)
  const passing = keys.length === 0 ? [] : await readPassing(database, { filters, projectId, keys })
  const page = keysOnPage(passing, paging)
  const isFound = isComplete || page.length > paging.limit
  const [place, statement] = isFound
    ? [{ ...paging, offset: 0, after: null }, selectAmong(filters, projectId, page)]
    : // Without days: looking at the last two first would be a fourth query.
      [paging, selectRequests(filters, projectId)]
  const rows = isFound && page.length === 0 ? [] : await readPage<RequestRow>(database, place, statement)
  return { rows, counted: withRead({ total: passing.length, isExact: isComplete }, rows.length, paging) }
}

function readPassing(
  database: ProjectDatabase,
  { filters, projectId, keys }: { filters: RequestFilters; projectId: string; keys: RequestKey[] },
): Promise<RequestKey[]> {
  const { from, alias, timeColumn, idColumn, conditions } = selectAmong(filters, projectId, keys)
  return readPage<RequestKey>(
    database,
    { limit: keys.length, offset: 0, after: null, page: 1, form: 'items' },
    { columns: 'r.id, r.created_at', from, alias, timeColumn, idColumn, conditions },
  )
}

/** One more than the page. Ids begin with their times, so those after the cursor are smaller. */
function keysOnPage(keys: readonly RequestKey[], { after, offset, limit }: Paging): RequestKey[] {
  const behind = after === null ? keys : keys.filter(({ id }) => id < idToUuid(after))
  return behind.slice(offset, offset + limit + 1)
}

/** The request of a row. */
export function itemOf(row: RequestRow): RequestItem {
  const item = {
    ...withReading(row),
    id: idFromUuid('request', row.id),
    project_id: idFromUuid('project', row.project_id),
    created_at: row.created_at.toISOString(),
  }
  // Postgres returns bigint as text; ingest only accepts safe integers.
  for (const name of countColumns) item[name] = row[name] === null ? null : Number(row[name])
  return item
}
