import { idFromUuid, idTimeMs, idToUuid } from '#schemas/ids.ts'
import type { Counted, Paging } from '../http/paging.ts'
import type { SourceFilter } from '../http/source-filter.ts'
import { Conditions } from './conditions.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import { itemOf, type RequestItem, type RequestRow } from './request-store.ts'
import { requestColumns, verdictOf } from './request-columns.ts'

/** Calls that one page scans: an endless session would otherwise be read whole. */
const scannedCalls = 5_000
/** Calls of a session that are summed, the newest. Beyond it `calls_are_exact` is false. */
const summedCalls = 500

export interface SessionFilters extends SourceFilter {
  agent_name?: string | undefined
  user_id?: string | undefined
  /** The time range of calls, in Unix milliseconds. */
  start?: number | undefined
  end?: number | undefined
}

/** Calls with the same session id. */
export interface Session {
  session_id: string
  started_at: string
  last_at: string
  calls: number
  tool_calls: number
  failed: number
  unsafe: number
  calls_are_exact: boolean
  agents: string[]
  models: string[]
  total_tokens: number
  cost_usd: number
}

interface SessionRow {
  id: string
  session_id: string
  last_at: Date
  started_at: Date
  calls: number
  tool_calls: number
  failed: number
  unsafe: number
  agents: string[] | null
  models: string[] | null
  total_tokens: string
  cost_usd: number
  is_exact: boolean
}

interface ScanRow {
  scanned: number
  last_scanned: string | null
  /** The number of sessions among the newest calls, and of those calls. */
  counted: [sessions: number, calls: number]
}

// The four token counts of a call do not overlap.
const tokenSum = ['prompt_tokens', 'cached_tokens', 'completion_tokens', 'reasoning_tokens']
  .map((name) => `coalesce(sum(c.${name}::numeric), 0)`)
  .join(' + ')

/** Sums over the newest calls of the session in `page`, whatever the list's filters. */
const sumsSql = `cross join lateral (
  select count(*)::integer as calls, min(c.created_at) as started_at, max(c.created_at) as last_at,
    count(*) filter (where c.type = 'mcp_tool_call')::integer as tool_calls,
    count(*) filter (where c.error is not null or c.status_code >= 400)::integer as failed,
    count(*) filter (where v.worst_label = 'unsafe')::integer as unsafe,
    (array_agg(distinct c.agent_name) filter (where c.agent_name is not null))[1:20] as agents, (array_agg(distinct c.model))[1:20] as models,
    ${tokenSum} as total_tokens, coalesce(sum(c.cost_usd), 0) as cost_usd,
    not bool_and(c.has_earlier) as is_exact
  from (
    select q.*, lead(q.id) over (order by q.created_at desc) is not null as has_earlier
    from llm_requests q where q.project_id = $1 and q.session_id = page.session_id
    order by q.created_at desc limit ${summedCalls}
  ) c ${verdictOf('c')}
) sums`

export interface SessionPage {
  items: Session[]
  /** The call after which to continue; null: the end. */
  next: string | null
  /** The first call of the first page. */
  startId: string | undefined
  /** Over all pages, among the newest calls. */
  counted: Counted
}

/**
 * Sessions by their latest call that passes the filters. At most `scannedCalls` calls are scanned, newest
 * first, so a page can have fewer sessions than requested and still have a next one.
 */
export async function listSessions(
  database: ProjectDatabase<OneProject>,
  filters: SessionFilters,
  paging: Paging,
): Promise<SessionPage> {
  const values = new Conditions()
  const behind = isBehind('r', paging.after, '<', values)
  // Nothing is later than the start of the first page's scan.
  const later =
    paging.after === null && filters.end === undefined ? '' : withoutLater(filters, paging.startId, values)
  const newest =
    paging.after === null
      ? 'scan'
      : `(select r.session_id from llm_requests r where :scope(r) and ${passes('r', filters, values)}
           and ${isBehind('r', paging.startId ?? null, '<=', values)} order by r.created_at desc, r.id desc limit ${scannedCalls})`
  const rows = await database.query<(SessionRow | { id: null }) & ScanRow>(
    `with scan as materialized (
       select r.session_id, r.created_at, r.id from llm_requests r where :scope(r) and ${passes('r', filters, values)} and ${behind}
       order by r.created_at desc, r.id desc limit ${scannedCalls}
     ), latest as (
       select distinct on (session_id) session_id, created_at, id from scan order by session_id, created_at desc, id desc
     ), page as (
       select l.* from (select * from latest order by created_at desc, id desc) l ${later}
       order by l.created_at desc, l.id desc limit ${values.bind(paging.limit + 1)}
     ), scanned as (
       select count(*)::integer as scanned, (array_agg(id order by created_at, id))[1] as last_scanned,
         (select array[count(distinct a.session_id), count(*)]::integer[] from ${newest} a) as counted from scan
     )
     select scanned.*, page.id, page.session_id, sums.* from scanned left join (page ${sumsSql}) on true
     order by page.created_at desc, page.id desc`,
    values.values,
  )
  // Without sessions one row remains: how far the scan came.
  const found = rows.filter((row): row is SessionRow & ScanRow => row.id !== null)
  const startId = paging.after === null && found[0] ? idFromUuid('request', found[0].id) : paging.startId
  const items = found.slice(0, paging.limit).map(sessionOf)
  const [total, calls] = rows[0]?.counted ?? [0, 0]
  const counted = { total: Math.max(total, items.length), isExact: calls < scannedCalls }
  return { items, next: nextOf(found, rows[0], paging.limit), startId, counted }
}

function nextOf(found: readonly SessionRow[], scan: ScanRow | undefined, limit: number): string | null {
  const behind =
    found.length > limit
      ? found[limit - 1]?.id
      : scan?.scanned === scannedCalls
        ? scan.last_scanned
        : undefined
  return behind === undefined || behind === null ? null : idFromUuid('request', behind)
}

/**
 * Excludes sessions with a later call, which are on an earlier page. If that call came after the first page
 * began (`startId`), they are on no earlier page. LIMIT keeps the planner from looking up all sessions (8 s
 * with `not exists` among ten million calls).
 */
function withoutLater(filters: SessionFilters, startId: string | undefined, values: Conditions): string {
  const known = startId === undefined ? '' : `and ${isBehind('n', startId, '<=', values)}`
  return `left join lateral (
    select true as found from llm_requests n where :scope(n) and n.session_id = l.session_id and n.created_at >= l.created_at
      and (n.created_at, n.id) > (l.created_at, l.id) and ${passes('n', filters, values)} ${known} limit 1
  ) later on true where later.found is null`
}

/** The conditions on the scanned calls; `alias` is the call. */
function passes(alias: string, filters: SessionFilters, values: Conditions): string {
  const { source, withoutSource, start, end } = filters
  const parts = [`${alias}.session_id is not null`]
  if (source !== undefined) parts.push(`${alias}.source = ${values.bind(source)}`)
  if (withoutSource !== undefined) parts.push(`${alias}.source <> ${values.bind(withoutSource)}`)
  for (const name of ['agent_name', 'user_id'] as const) {
    if (filters[name] !== undefined) parts.push(`${alias}.${name} = ${values.bind(filters[name])}`)
  }
  if (start !== undefined) parts.push(`${alias}.created_at >= ${values.bind(new Date(start))}`)
  if (end !== undefined) parts.push(`${alias}.created_at < ${values.bind(new Date(end))}`)
  return parts.join(' and ')
}

/** After the call `after` in the order of `sign`; true without one. */
function isBehind(alias: string, after: string | null, sign: '<' | '<=' | '>', values: Conditions): string {
  if (after === null) return 'true'
  const time = `${values.bind(new Date(idTimeMs(after)))}::timestamptz`
  const uuid = `${values.bind(idToUuid(after))}::uuid`
  // The second implies the first, but only the first lets Postgres skip partitions.
  return `${alias}.created_at ${sign.slice(0, 1)}= ${time} and (${alias}.created_at, ${alias}.id) ${sign} (${time}, ${uuid})`
}

function sessionOf(row: SessionRow): Session {
  return {
    session_id: row.session_id,
    started_at: row.started_at.toISOString(),
    last_at: row.last_at.toISOString(),
    calls: row.calls,
    tool_calls: row.tool_calls,
    failed: row.failed,
    unsafe: row.unsafe,
    calls_are_exact: row.is_exact,
    agents: row.agents ?? [],
    models: row.models ?? [],
    total_tokens: Number(row.total_tokens),
    cost_usd: row.cost_usd,
  }
}

/** The calls of a session, the oldest first and one more than requested. */
export async function readSession(
  database: ProjectDatabase<OneProject>,
  sessionId: string,
  paging: Paging,
): Promise<RequestItem[]> {
  const values = new Conditions()
  const session = values.bind(sessionId)
  const behind = isBehind('r', paging.after, '>', values)
  const [limit, offset] = [values.bind(paging.limit + 1), values.bind(paging.offset)]
  const rows = await database.query<RequestRow>(
    `select ${requestColumns('page')} from (
       select r.* from llm_requests r where :scope(r) and r.session_id = ${session} and ${behind}
       order by r.created_at, r.id limit ${limit} offset ${offset}
     ) page ${verdictOf('page')} order by page.created_at, page.id`,
    values.values,
  )
  return rows.map(itemOf)
}

/** Sums over a session; undefined when it is unknown. */
export async function findSession(
  database: ProjectDatabase<OneProject>,
  sessionId: string,
): Promise<Session | undefined> {
  const rows = await database.query<SessionRow>(
    `select page.id, page.session_id, sums.* from (
       select r.id, r.session_id, r.created_at from llm_requests r where :scope(r) and r.session_id = $2
       order by r.created_at desc, r.id desc limit 1
     ) page ${sumsSql}`,
    [sessionId],
  )
  return rows[0] === undefined ? undefined : sessionOf(rows[0])
}
