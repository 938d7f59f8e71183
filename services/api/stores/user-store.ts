import type { SourceFilter } from '../http/source-filter.ts'
import { Conditions } from './conditions.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import { rollupRows, type HourRange } from './rollup-source.ts'

/** Newest calls of a user that are looked at for sessions. */
const sessionCalls = 200

/** By what users are ordered, the largest first. */
export const userOrders = {
  cost: 'cost_picodollars',
  calls: 'calls',
  unsafe: 'unsafe',
  last_seen: 'last_seen_at',
} as const
export type UserOrder = keyof typeof userOrders

export interface UserFilters extends HourRange, SourceFilter {
  user_id?: string | undefined
  order: UserOrder
}

/** Whom the `user_id` of calls names. */
export interface EndUser {
  user_id: string
  last_seen_at: string
  calls: number
  failed: number
  unsafe: number
  tokens: number
  priced: number
  cost_usd: number
  sessions: number
  sessions_are_exact: boolean
}

type CountedUser = Record<
  'calls' | 'failed' | 'unsafe' | 'tokens' | 'priced' | 'cost_picodollars',
  string
> & {
  user_id: string
  last_seen_at: Date
  sessions: number
  is_exact: boolean
  total: number
}

/** Users of one project, from the sink's counts: those beyond the bound of an hour are missing. */
export async function listUsers(
  database: ProjectDatabase<OneProject>,
  filters: UserFilters,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: EndUser[]; total: number }> {
  const conditions = new Conditions()
  conditions.equal('t.source', filters.source)
  conditions.differ('t.source', filters.withoutSource)
  conditions.equal('t.user_id', filters.user_id)
  conditions.add('not t.is_other')
  const source = await rollupRows(database, 'user_rollups', filters, conditions)
  const [atMost, skipped] = [conditions.bind(limit), conditions.bind(offset)]
  const order = `order by ${userOrders[filters.order]} desc, calls desc, user_id`
  const within = conditions.daysWithin(filters.startMs, filters.endMs)
  const rows = await database.query<CountedUser>(
    `with page as materialized (
       select t.user_id, max(t.last_at) as last_seen_at, sum(t.calls) as calls, sum(t.failed) as failed, sum(t.verdict_unsafe) as unsafe,
         sum(t.prompt_tokens + t.completion_tokens + t.cached_tokens + t.reasoning_tokens) as tokens,
         sum(t.priced) as priced, sum(t.cost_picodollars) as cost_picodollars, count(*) over ()::integer as total
       from ${source} where :scope(t)${conditions.text} group by 1 having sum(t.calls) > 0 ${order} limit ${atMost} offset ${skipped}
     ) select page.*, s.sessions, s.is_exact from page cross join lateral (
       select count(distinct c.session_id)::integer as sessions, count(*) < ${sessionCalls} as is_exact from (
         select r.session_id from llm_requests r where :scope(r) and r.user_id = page.user_id${within('r.created_at')}
         order by r.created_at desc limit ${sessionCalls}
       ) c
     ) s ${order}`,
    conditions.values,
  )
  // After the last page no row has the count.
  if (rows.length === 0 && offset > 0)
    return { ...(await listUsers(database, filters, { limit: 1, offset: 0 })), items: [] }
  return { items: rows.map(userOf), total: rows[0]?.total ?? 0 }
}

function userOf(row: CountedUser): EndUser {
  return {
    user_id: row.user_id,
    last_seen_at: row.last_seen_at.toISOString(),
    calls: Number(row.calls),
    failed: Number(row.failed),
    unsafe: Number(row.unsafe),
    tokens: Number(row.tokens),
    priced: Number(row.priced),
    cost_usd: Number(row.cost_picodollars) / 1e12,
    sessions: row.sessions,
    sessions_are_exact: row.is_exact,
  }
}
