import { z } from 'zod'
import { isId, type IdKind } from '#schemas/ids.ts'
import { invalidInput } from '#http/problem.ts'

const defaultPageSize = 50
const maxPageSize = 200
/** An offset reads every row that it skips; a cursor does not. */
const maxOffset = 10_000

function wholeNumber(max: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().int().min(1).max(max))
    .meta({ type: 'integer', minimum: 1, maximum: max })
}

/** Query parameters of a list that only pages by number. */
export const pageFields = {
  page: wholeNumber(maxOffset).optional().describe('From 1, up to 10,000 rows; use `cursor` beyond.'),
  page_size: wholeNumber(maxPageSize).optional().describe('1 to 200, 50 when absent.'),
}

/** The alternative to pages. */
export const limitField = {
  limit: wholeNumber(maxPageSize)
    .optional()
    .describe('Instead of paging: this many of the newest, under `data`.'),
}

/** Query parameters of a list. */
export const pagingFields = {
  ...pageFields,
  ...limitField,
  cursor: z
    .string()
    .max(200)
    .optional()
    .describe('`next_cursor` of the page before. Rows that arrive meanwhile move nothing.'),
}

export type PagingQuery = Partial<z.output<z.ZodObject<typeof pagingFields>>>

/** Which rows to read: one more than `limit`, to see whether more exist. */
export interface Paging {
  limit: number
  offset: number
  /** The id after which to continue. */
  after: string | null
  /** Its project, in a list of all projects, where ids are not unique. */
  afterProject?: string
  /** The first row of the first page, in a list whose rows move to the front. */
  startId?: string
  page: number
  form: 'items' | 'data'
}

/** Throws 422 for parameters that exclude each other, a page too deep, or an invalid cursor. */
export function readPaging(query: PagingQuery, kind: IdKind): Paging {
  const { page = 1, page_size = defaultPageSize, cursor, limit } = query
  if (limit !== undefined) {
    refuseTogether(query, 'limit', ['page', 'page_size', 'cursor'])
    return { limit, offset: 0, after: null, page: 1, form: 'data' }
  }
  if (cursor !== undefined) {
    refuseTogether(query, 'cursor', ['page'])
    return { limit: page_size, offset: 0, ...readCursor(cursor, kind), page: 1, form: 'items' }
  }
  const offset = (page - 1) * page_size
  if (offset > maxOffset)
    throw invalidInput([{ path: 'page', message: 'is too deep; follow next_cursor instead' }])
  return { limit: page_size, offset, after: null, page, form: 'items' }
}

/** Throws 422 for the first of `others` that was sent together with `name`. */
export function refuseTogether(
  query: Readonly<Record<string, unknown>>,
  name: string,
  others: readonly string[],
): void {
  const other = others.find((each) => query[each] !== undefined)
  if (other !== undefined)
    throw invalidInput([{ path: other, message: `cannot be used together with ${name}` }])
}

/** `next_cursor` of a page that ends with this id. `beside`: its project, or `startId`. */
export function writeCursor(id: string, beside?: string): string {
  return Buffer.from(beside === undefined ? id : `${id} ${beside}`).toString('base64url')
}

/** The position of a cursor. Throws 422 when it is invalid. */
function readCursor(cursor: string, kind: IdKind): Pick<Paging, 'after' | 'afterProject' | 'startId'> {
  const [id = '', beside, ...rest] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (isId(kind, id) && rest.length === 0) {
    if (beside === undefined) return { after: id }
    if (isId('project', beside)) return { after: id, afterProject: beside }
    if (isId(kind, beside)) return { after: id, startId: beside }
  }
  throw invalidInput([{ path: 'cursor', message: 'is not a next_cursor of this list' }])
}

export interface Counted {
  total: number
  isExact: boolean
}

/**
 * The list in the requested form. A row beyond the page in `rows` means that more exist. `projectOf` is for
 * rows of several projects, whose ids are not unique.
 */
export function envelope<R extends { id: string }>(
  paging: Paging,
  rows: readonly R[],
  counted: Counted,
  projectOf: (row: R) => string | undefined = () => undefined,
): object {
  const shown = rows.slice(0, paging.limit)
  const last = rows.length > paging.limit ? shown.at(-1) : undefined
  return envelopeOf(paging, shown, counted, last === undefined ? null : writeCursor(last.id, projectOf(last)))
}

/** The rows of one page, with the cursor after them; null: there are no more. */
export function envelopeOf(
  paging: Paging,
  shown: readonly object[],
  { total, isExact }: Counted,
  cursor: string | null,
): object {
  const exactness = isExact ? {} : { total_is_exact: false }
  if (paging.form === 'data')
    return { data: shown, total, ...exactness, limit: paging.limit, has_more: cursor !== null }
  return {
    items: shown,
    total,
    ...exactness,
    page: paging.page,
    page_size: paging.limit,
    next_cursor: cursor,
  }
}

/** A page of a list without cursors, in the requested form. */
export function listForm(paging: Paging, rows: readonly object[], total: number): object {
  if (paging.form === 'data') return { data: rows, total, limit: paging.limit, has_more: total > rows.length }
  return { items: rows, total, page: paging.page, page_size: paging.limit, next_cursor: null }
}

/** The schema of a list's answer, in both forms. */
export function listOf(item: z.ZodType): z.ZodType {
  const total = z.number().int()
  const exact = z.literal(false).optional().describe('Present when only counted up to a bound.')
  return z.union([
    z.object({
      items: z.array(item),
      total,
      total_is_exact: exact,
      page: z.number().int(),
      page_size: z.number().int(),
      next_cursor: z
        .string()
        .nullable()
        .describe('Null on the last page, and in lists that only page by number.'),
    }),
    z.object({
      data: z.array(item),
      total,
      total_is_exact: exact,
      limit: z.number().int(),
      has_more: z.boolean(),
    }),
  ])
}
