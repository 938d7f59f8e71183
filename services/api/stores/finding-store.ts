import type { FindingState } from '#schemas/event-data.ts'
import { erasedCall, findingTargetMs, isClosed, maxFindingValues } from '#schemas/finding.ts'
import { idFromUuid, idToUuid, liveRunId } from '#schemas/ids.ts'
import { severities, type Severity } from '#schemas/verdicts.ts'
import type { Counted, Paging } from '../http/paging.ts'
import { Conditions } from './conditions.ts'
import { listRows } from './list-rows.ts'
import type { ProjectDatabase } from './project-database.ts'

export interface Finding {
  id: string
  project_id: string
  scorer_name: string
  evidence_kind: string | null
  agent_name: string | null
  tool_name: string | null
  owasp_category: string | null
  severity: Severity
  state: FindingState
  muted_until: string | null
  owner: { id: string; login: string } | null
  count: number
  distinct_values: number
  distinct_values_is_exact: boolean
  first_seen_at: string
  last_seen_at: string
  first_request_id: string | null
  last_request_id: string | null
  first_opened_at: string
  opened_at: string
  closed_at: string | null
  closed_by: string | null
  due_at: string | null
  is_overdue: boolean
}

export interface FindingRow {
  id: string
  project_id: string
  scorer_name: string
  evidence_kind: string
  agent_name: string
  tool_name: string
  owasp_category: string | null
  severity: Severity
  state: FindingState
  muted_until: Date | null
  owner_id: string | null
  owner_login: string | null
  revision: number
  created_at: Date
  opened_at: Date
  closed_at: Date | null
  closed_by: string | null
  count: string
  first_seen_at: Date
  last_seen_at: Date
  first_request_id: string
  last_request_id: string
  had_values: number
  distinct_values: number
}

export interface FindingFilters {
  state?: FindingState | undefined
  severity?: Severity | undefined
  scorer_name?: string | undefined
  agent_name?: string | undefined
  tool_name?: string | undefined
  owner?: string | undefined
  overdue?: boolean | undefined
  /** Unix milliseconds: with a call since then. */
  since?: number | undefined
  /** With a call of this end user, among their newest `userCalls`. */
  user_id?: string | undefined
}

/** Looked up one by one among scores: 40 ms. */
export const userCalls = 2_000

/** Of the finding `f`: what its counters of all lanes say together, and how many values it has. */
export const sumsOfFinding = `cross join lateral (
    select sum(c.count)::text as count, min(c.first_seen_at) as first_seen_at, max(c.last_seen_at) as last_seen_at, max(c.value_count) as had_values,
      (array_agg(c.first_request_id order by c.first_seen_at, c.first_request_id))[1] as first_request_id,
      (array_agg(c.last_request_id order by c.last_request_id desc))[1] as last_request_id
    from finding_counters c where c.project_id = f.project_id and c.finding_id = f.id
  ) sums cross join lateral (
    select count(*)::integer as distinct_values from (
      select distinct v.hash from finding_values v where v.project_id = f.project_id and v.finding_id = f.id limit ${maxFindingValues}) v
  ) found`
export const findingColumns = 'f.*, sums.*, found.distinct_values'

/** Opened last first. */
export async function listFindings(
  database: ProjectDatabase,
  filters: FindingFilters,
  paging: Paging,
  nowMs: number,
): Promise<{ items: Finding[]; counted: Counted }> {
  const { rows, counted } = await listRows<FindingRow>(database, paging, {
    columns: 'f.project_id, f.id, f.opened_at',
    from: 'findings f',
    alias: 'f',
    timeColumn: 'f.opened_at',
    idColumn: 'f.id',
    // Its id has the time of its project.
    timeOf: (id) => `(select g.opened_at from findings g where g.id = ${id})`,
    conditions: conditionsOf(database, filters, nowMs),
    joined: {
      columns: findingColumns,
      joins: () => `join findings f on f.project_id = page.project_id and f.id = page.id ${sumsOfFinding}`,
      time: 'opened_at',
      id: 'id',
    },
  })
  return { items: rows.map((row) => findingOf(row, nowMs)), counted }
}

export async function findFinding(
  database: ProjectDatabase,
  id: string,
  nowMs: number,
): Promise<Finding | undefined> {
  const rows = await database.query<FindingRow>(
    `select ${findingColumns} from findings f ${sumsOfFinding} where :scope(f) and f.id = $2`,
    [idToUuid(id)],
  )
  return rows.map((row) => findingOf(row, nowMs))[0]
}

const facetBound = 10_000
export const findingDimensions = [
  'state',
  'severity',
  'scorer_name',
  'agent_name',
  'tool_name',
  'owner',
] as const
type Dimension = (typeof findingDimensions)[number]

export interface FindingFacets {
  findings: number
  isExact: boolean
  overdue: number
  of: Readonly<Record<Dimension, { value: string; count: number }[]>>
}

/** The findings that pass the filters, by the values of each dimension: the 10,000 that were opened last. */
export async function readFindingFacets(
  database: ProjectDatabase,
  filters: FindingFilters,
  nowMs: number,
): Promise<FindingFacets> {
  const conditions = conditionsOf(database, filters, nowMs)
  const chosen = `select f.* from findings f where :scope(f)${conditions.text}
     order by f.opened_at desc, f.id desc limit ${facetBound + 1}`
  const late = overdueSql(conditions, nowMs)
  const rows = await database.query<{ dimension: string; value: string; count: number }>(
    `with f as materialized (${chosen})
     select d.dimension, d.value, count(*)::integer as count from f cross join lateral (values
       ('all', 'all'), ('overdue', (${late})::text), ('state', f.state), ('severity', f.severity), ('scorer_name', f.scorer_name),
       ('agent_name', f.agent_name), ('tool_name', f.tool_name), ('owner', f.owner_login)) d (dimension, value)
     where d.value is not null and d.value <> '' group by 1, 2 order by 3 desc, 2`,
    conditions.values,
  )
  const countOf = (dimension: string, value: string) =>
    rows.find((row) => row.dimension === dimension && row.value === value)?.count ?? 0
  const valuesOf = (dimension: Dimension) =>
    rows.filter((row) => row.dimension === dimension).map(({ value, count }) => ({ value, count }))
  const findings = countOf('all', 'all')
  return {
    findings: Math.min(findings, facetBound),
    isExact: findings <= facetBound,
    overdue: countOf('overdue', 'true'),
    of: Object.fromEntries(
      findingDimensions.map((dimension) => [dimension, valuesOf(dimension)]),
    ) as FindingFacets['of'],
  }
}

function conditionsOf(
  { scope: { projectId } }: ProjectDatabase,
  filters: FindingFilters,
  nowMs: number,
): Conditions {
  const conditions = new Conditions()
  conditions.equal('f.state', filters.state)
  conditions.equal('f.severity', filters.severity)
  conditions.equal('f.scorer_name', filters.scorer_name)
  conditions.equal('f.agent_name', filters.agent_name)
  conditions.equal('f.tool_name', filters.tool_name)
  if (filters.owner !== undefined) conditions.equal('f.owner_id', idToUuid(filters.owner))
  if (filters.overdue !== undefined)
    conditions.add(`(${overdueSql(conditions, nowMs)}) is ${filters.overdue ? 'true' : 'not true'}`)
  if (filters.since !== undefined)
    conditions.add(
      `exists (select from finding_counters c where c.project_id = f.project_id and c.finding_id = f.id
         and c.last_seen_at >= ${conditions.bind(new Date(filters.since))})`,
    )
  if (filters.user_id !== undefined) {
    const isLive =
      projectId === null ? '' : ` and s.run_id = ${conditions.bind(idToUuid(liveRunId(projectId)))}`
    conditions.add(`f.id in (
      select s.finding_id from (
        select r.project_id, r.id, r.created_at from llm_requests r where :scope(r) and r.user_id = ${conditions.bind(filters.user_id)}
        order by r.created_at desc limit ${userCalls}
      ) r join safety_scores s on s.project_id = r.project_id and s.request_id = r.id and s.request_created_at = r.created_at
      where s.finding_id is not null${isLive})`)
  }
  return conditions
}

/** Whether `f` has been open for longer than its severity allows. */
function overdueSql(conditions: Conditions, nowMs: number): string {
  const limits = severities.map(
    (severity) =>
      `when '${severity}' then ${conditions.bind(new Date(nowMs - findingTargetMs[severity]))}::timestamptz`,
  )
  return `f.state in ('open', 'acknowledged') and f.opened_at < case f.severity ${limits.join(' ')} end`
}

function findingOf(row: FindingRow, nowMs: number): Finding {
  const dueMs = row.opened_at.getTime() + findingTargetMs[row.severity]
  const isDue = !isClosed(row.state) && row.state !== 'muted'
  return {
    id: idFromUuid('finding', row.id),
    project_id: idFromUuid('project', row.project_id),
    scorer_name: row.scorer_name,
    evidence_kind: orNull(row.evidence_kind),
    agent_name: orNull(row.agent_name),
    tool_name: orNull(row.tool_name),
    owasp_category: row.owasp_category,
    severity: row.severity,
    state: row.state,
    muted_until: row.muted_until?.toISOString() ?? null,
    owner: ownerOf(row),
    count: Number(row.count),
    distinct_values: row.distinct_values,
    distinct_values_is_exact: Math.max(row.distinct_values, row.had_values) < maxFindingValues,
    first_seen_at: row.first_seen_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    first_request_id: callOf(row.first_request_id),
    last_request_id: callOf(row.last_request_id),
    first_opened_at: row.created_at.toISOString(),
    opened_at: row.opened_at.toISOString(),
    closed_at: row.closed_at?.toISOString() ?? null,
    closed_by: row.closed_by,
    due_at: isDue ? new Date(dueMs).toISOString() : null,
    is_overdue: isDue && dueMs < nowMs,
  }
}

export function ownerOf({
  owner_id,
  owner_login,
}: Pick<FindingRow, 'owner_id' | 'owner_login'>): Finding['owner'] {
  return owner_id === null ? null : { id: idFromUuid('person', owner_id), login: owner_login ?? '' }
}

/** Null: it was erased. */
export const callOf = (uuid: string) => (uuid === erasedCall ? null : idFromUuid('request', uuid))

const orNull = (text: string) => (text === '' ? null : text)
