import type { CallVerdict } from '#schemas/call-reading.ts'
import { idToUuid, liveRunId } from '#schemas/ids.ts'
import { scoreLabels, type Severity } from '#schemas/verdicts.ts'
import type { SourceFilter } from '../http/source-filter.ts'
import { compare, type Comparison } from './compare-columns.ts'
import { Conditions, type WithinDays } from './conditions.ts'
import type { ListStatement } from './list-rows.ts'
import { filterColumns, requestColumns, requestOf, verdictOf, type RequestKey } from './request-columns.ts'
import { addReview, type ReviewFilter } from './review-filter.ts'

/** Nearly all other calls succeeded, so no index selects them. */
export const statusFilters = ['failed', '4xx', '5xx', 'aborted'] as const
/** `pending`: no score yet. */
export const labelFilters = [...scoreLabels, 'pending'] as const

export interface RequestFilters extends SourceFilter {
  model?: string | undefined
  provider?: string | undefined
  agent_name?: string | undefined
  agent_tag?: string | undefined
  session_id?: string | undefined
  user_id?: string | undefined
  type?: string | undefined
  tool_name?: string | undefined
  label?: (typeof labelFilters)[number] | undefined
  severity?: Severity | undefined
  /** Of all scorers, also with `scorer_name`. */
  verdict?: CallVerdict | undefined
  scorer_name?: string | undefined
  status?: (typeof statusFilters)[number] | undefined
  review?: ReviewFilter | undefined
  /** Conditions other than equality. */
  compared?: readonly Comparison[] | undefined
  /** Unix milliseconds. */
  start?: number | undefined
  end?: number | undefined
  /** Metadata key → its value as text. */
  metadata: Readonly<Record<string, string>>
}

/**
 * The requests that pass. With a label, severity or scorer the list scans verdicts or scores in their order,
 * because few of many calls are unsafe; unless the other filters leave fewer calls still (`ofFew`).
 */
export function selectRequests(
  filters: RequestFilters,
  projectId: string | null,
  ofFew: boolean = isOfFew(filters),
): ListStatement {
  const conditions = ownConditions(filters)
  if (filters.scorer_name !== undefined) return selectScored(filters, projectId, ofFew, conditions)
  const ofVerdict = [filters.label, filters.severity, filters.verdict].some((value) => value !== undefined)
  if (ofVerdict && !ofFew && filters.label !== 'pending') return selectByVerdict(filters, conditions)
  conditions.within('r.created_at', filters.start, filters.end)
  const own = conditions.text
  if (filters.label === 'pending') conditions.add(hasNoVerdict(filters, conditions))
  else if (ofVerdict) {
    addVerdict(filters, conditions)
    return selectByRequest('llm_requests r', conditions, { own, joins: (within) => verdictOf('r', within) })
  }
  return selectByRequest('llm_requests r', conditions)
}

/** A session, user or tool has fewer calls than there are unsafe ones; failed calls are as rare. */
export function isOfFew({ session_id, user_id, tool_name, status }: RequestFilters): boolean {
  return [session_id, user_id, tool_name, status].some((value) => value !== undefined)
}

/** Those of these requests that pass, newest first. They are few, so the plan does not matter. */
export function selectAmong(
  filters: RequestFilters,
  projectId: string,
  keys: readonly RequestKey[],
): ListStatement {
  const conditions = ownConditions(filters)
  const scorer = filters.scorer_name === undefined ? undefined : ofScorer(filters, projectId, conditions)
  if (filters.label === 'pending') conditions.add(hasNoVerdict(filters, conditions))
  else if (scorer === undefined) {
    addVerdict(filters, conditions)
  } else {
    hasVerdict(filters, conditions)
    conditions.add(`exists (${scoredBy(filters, scorer, conditions)('')})`)
  }
  conditions.add(`r.id = any(${conditions.bind(keys.map(({ id }) => id))}::uuid[])`)
  // A separate condition, which selects the partitions.
  const [newest, oldest] = [keys[0], keys.at(-1)]
  if (newest !== undefined) conditions.add(`r.created_at <= ${conditions.bind(newest.created_at)}`)
  if (oldest !== undefined) conditions.add(`r.created_at >= ${conditions.bind(oldest.created_at)}`)
  const statement = selectByRequest(`llm_requests r ${verdictOf('r')}`, conditions)
  return scorer === undefined ? statement : withScore(statement, scorer)
}

/**
 * Not a lateral join of verdicts: nearly all calls have one, and both sides are read in bulk (200,000 calls:
 * 0.6 s, against 1.4).
 */
function hasNoVerdict({ start, end }: RequestFilters, conditions: Conditions): string {
  return `not exists (select from request_verdicts w where w.project_id = r.project_id and w.request_id = r.id
    and w.request_created_at = r.created_at${conditions.daysWithin(start, end)('w.request_created_at')})`
}

function ownConditions(filters: RequestFilters): Conditions {
  const conditions = new Conditions()
  for (const name of filterColumns) conditions.equal(`r.${name}`, filters[name])
  conditions.differ('r.source', filters.withoutSource)
  if (filters.status === 'aborted') conditions.add('r.aborted_by is not null')
  // Matches the predicate of the index llm_requests_failed.
  else if (filters.status !== undefined) conditions.add('(r.status_code >= 400 or r.error is not null)')
  if (filters.status === '4xx') conditions.add('r.status_code between 400 and 499')
  if (filters.status === '5xx') conditions.add('r.status_code between 500 and 599')
  for (const comparison of filters.compared ?? []) compare(conditions, comparison)
  if (filters.review !== undefined) addReview(conditions, filters.review)
  for (const [key, value] of Object.entries(filters.metadata)) {
    conditions.add(`r.metadata ->> ${conditions.bind(key)} = ${conditions.bind(value)}`)
  }
  return conditions
}

type PagedStatement = ListStatement & Required<Pick<ListStatement, 'joined'>>

function selectByRequest(
  from: string,
  conditions: Conditions,
  joined?: ListStatement['scanned'],
): PagedStatement {
  return {
    columns: 'r.*',
    from,
    ...(joined !== undefined && { scanned: joined }),
    alias: 'r',
    timeColumn: 'r.created_at',
    idColumn: 'r.id',
    conditions,
    joined: {
      columns: requestColumns('page'),
      joins: (within) => verdictOf('page', within),
      time: 'created_at',
      id: 'id',
    },
  }
}

function selectByVerdict(filters: RequestFilters, conditions: Conditions): ListStatement {
  const { label, severity, verdict, start, end } = filters
  const ofRequest = conditions.text
  // Implied by a severity or verdict, but needed for the index on unsafe verdicts.
  if (severity !== undefined || verdict === 'unsafe') conditions.add(`v.worst_label = 'unsafe'`)
  addVerdict(filters, conditions)
  conditions.within('v.request_created_at', start, end)
  const statement = selectByKey('request_verdicts', 'v', ofRequest, conditions)
  // Nearly all have these and no index: by time, a page of fifty would read two days of verdicts.
  const isUsual = label === 'safe' || (verdict === 'no_finding' && label === undefined)
  return isUsual ? { ...statement, byIdAlone: true } : statement
}

/** Conditions on the verdict `v`. */
function addVerdict({ label, severity, verdict }: RequestFilters, conditions: Conditions): void {
  conditions.equal('v.worst_label', label)
  conditions.equal('v.worst_severity', severity)
  conditions.equal('v.verdict', verdict)
}

/** That the request `r` has the verdict, where the label is a scorer's. */
function hasVerdict({ verdict, start, end }: RequestFilters, conditions: Conditions): void {
  if (verdict === undefined) return
  conditions.add(`exists (select from request_verdicts w where w.project_id = r.project_id and w.request_id = r.id
    and w.request_created_at = r.created_at${conditions.daysWithin(start, end)('w.request_created_at')}
    and w.verdict = ${conditions.bind(verdict)})`)
}

/** Label and severity are then those of the scorer's own score, shown with each call. */
function selectScored(
  filters: RequestFilters,
  projectId: string | null,
  ofFew: boolean,
  conditions: Conditions,
): ListStatement {
  hasVerdict(filters, conditions)
  if (projectId !== null && !ofFew) return selectByScore(filters, projectId, conditions)
  conditions.within('r.created_at', filters.start, filters.end)
  const own = conditions.text
  const scorer = ofScorer(filters, projectId, conditions)
  const scored = scoredBy(filters, scorer, conditions)
  conditions.add(projectId === null ? `exists (${scored('')})` : 'scored.found')
  const joins = (within: WithinDays) =>
    `left join lateral (${scored(within('s.request_created_at'))} limit 1) scored on true`
  const scanned = projectId === null ? undefined : { own, joins }
  return withScore(selectByRequest('llm_requests r', conditions, scanned), scorer)
}

function selectByScore(filters: RequestFilters, projectId: string, conditions: Conditions): ListStatement {
  const { label, severity, start, end } = filters
  const ofRequest = conditions.text
  const scorer = ofScorer(filters, projectId, conditions)
  conditions.add(scorer)
  if (severity !== undefined) conditions.add(`s.score_label = 'unsafe'`)
  conditions.equal('s.score_label', label)
  conditions.equal('s.severity', severity)
  conditions.within('s.request_created_at', start, end)
  return withScore(selectByKey('safety_scores', 's', ofRequest, conditions), scorer)
}

/** `ofRequest`: the conditions on the request, which come first. */
function selectByKey(
  table: string,
  alias: string,
  ofRequest: string,
  conditions: Conditions,
): PagedStatement {
  const own = conditions.text.slice(ofRequest.length)
  const joins = (within: WithinDays) => requestOf(alias, 'request_id', 'request_created_at', within)
  return {
    columns: `${alias}.project_id, ${alias}.request_id as id, ${alias}.request_created_at as created_at`,
    from: `${table} ${alias}`,
    ...(ofRequest !== '' && { scanned: { own, joins } }),
    alias,
    timeColumn: `${alias}.request_created_at`,
    idColumn: `${alias}.request_id`,
    conditions,
    joined: {
      columns: requestColumns('r'),
      joins: (within) => `${requestOf('page', 'id', 'created_at', within)} ${verdictOf('page', within)}`,
      time: 'created_at',
      id: 'id',
    },
  }
}

/**
 * Conditions that the score `s` is the scorer's live one. Without a project, a run that was not ordered
 * counts as live, because each project has its own live run.
 */
function ofScorer({ scorer_name }: RequestFilters, projectId: string | null, conditions: Conditions): string {
  const run =
    projectId === null
      ? 'not exists (select from score_runs x where x.id = s.run_id)'
      : `s.run_id = ${conditions.bind(idToUuid(liveRunId(projectId)))}`
  return `s.scorer_name = ${conditions.bind(scorer_name)} and ${run}`
}

/**
 * The statement for the score of the request `r`, given a condition on its day. `scorer`: from `ofScorer`.
 */
function scoredBy(
  { label, severity }: RequestFilters,
  scorer: string,
  conditions: Conditions,
): (ofDay: string) => string {
  const parts = [scorer]
  if (label !== undefined) parts.push(`s.score_label = ${conditions.bind(label)}`)
  if (severity !== undefined) parts.push(`s.severity = ${conditions.bind(severity)}`)
  return (
    ofDay,
  ) => `select true as found from safety_scores s where s.project_id = r.project_id and s.request_id = r.id
    and s.request_created_at = r.created_at and ${parts.join(' and ')}${ofDay}`
}

/** Adds the scorer's score to each row of the page. */
function withScore({ joined, ...statement }: PagedStatement, scorer: string): ListStatement {
  const joins = (within: WithinDays) => `${joined.joins(within)} left join lateral (
      select s.score_label as scorer_label, s.severity as scorer_severity, s.score_value as scorer_value from safety_scores s
      where s.project_id = page.project_id and s.request_id = page.id and s.request_created_at = page.created_at and ${scorer}${within('s.request_created_at')} limit 1
    ) said on true`
  return { ...statement, joined: { ...joined, columns: `${joined.columns}, said.*`, joins } }
}
