import { readingColumns } from './reading-fields.ts'
import { everyDay, type WithinDays } from './conditions.ts'

/** As in Postgres: a UUID and a time. */
export interface RequestKey {
  id: string
  created_at: Date
}

export const filterColumns = [
  'source',
  'model',
  'provider',
  'agent_name',
  'agent_tag',
  'session_id',
  'user_id',
  'type',
  'tool_name',
] as const

const plainColumns = [
  ...filterColumns,
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'cost_usd',
  'latency_ms',
  'time_to_first_token_ms',
  'status_code',
  'error',
  'aborted_by',
  'metadata',
  'zero_content_retention',
] as const
export type PlainColumn = (typeof plainColumns)[number]

const verdictColumns = ['worst_label', 'worst_severity', 'score_count', ...readingColumns].join(', ')

/** The columns of the request `owner`, with its verdict `v`. */
export function requestColumns(owner: string): string {
  const own = ['id', 'project_id', 'created_at', ...plainColumns].map((name) => `${owner}.${name}`)
  const reading = readingColumns.map((name) => `v.${name}`)
  return `${own.join(', ')}, v.worst_label, v.worst_severity, coalesce(v.score_count, 0) as score_count, ${reading.join(', ')}`
}

/**
 * The verdict `v` of the request `owner`. Without LIMIT the planner may join whole days; there is one row per
 * key.
 */
export function verdictOf(owner: string, within: WithinDays = everyDay): string {
  return `left join lateral (select ${verdictColumns} from request_verdicts w
    where w.project_id = ${owner}.project_id and w.request_id = ${owner}.id and w.request_created_at = ${owner}.created_at${within('w.request_created_at')} limit 1) v on true`
}

/** The request `r` whose key is in columns of `owner`. */
export function requestOf(owner: string, id: string, time: string, within: WithinDays): string {
  return `cross join lateral (select * from llm_requests q
    where q.project_id = ${owner}.project_id and q.id = ${owner}.${id} and q.created_at = ${owner}.${time}${within('q.created_at')} limit 1) r`
}
