import type { CallVerdict } from '#schemas/call-reading.ts'
import { idToUuid, liveRunId } from '#schemas/ids.ts'
import type { ScoreLabel, Severity } from '#schemas/verdicts.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import { createRequestStore } from './request-store.ts'
import { countReviewedOf } from './review-filter.ts'
import type { RequestFilters } from './select-requests.ts'

/** The bound of a list's count. A row is 0.1 kB on the wire. */
const facetBound = 10_000

interface FacetRow {
  id: string
  created_at: Date
  source: string
  model: string
  provider: string | null
  agent_name: string | null
  tool_name: string | null
  status_code: number | null
  has_error: boolean
  aborted_by: string | null
  worst_label: ScoreLabel | null
  label: ScoreLabel | null
  severity: Severity | null
  verdict: CallVerdict | null
}

type Counts = ReadonlyMap<string, number>

/** The number of calls that pass the filters, by the values of each dimension. */
export interface FilteredFacets {
  calls: number
  /** False: only the newest calls were counted. */
  isExact: boolean
  of: Readonly<
    Record<
      'model' | 'provider' | 'agent_name' | 'tool_name' | 'label' | 'severity' | 'verdict' | 'status',
      Counts
    >
  >
  /** Of every source, whatever the filter. */
  source: Counts
  /** Calls that a scorer found unsafe. */
  scorer_name: Counts
  /** Reviewed calls. */
  review: Counts
}

/** Counts call by call: roll-ups have hours, models and scorers, but not which call has both. */
export async function readFilteredFacets(
  database: ProjectDatabase<OneProject>,
  { source, withoutSource, ...filters }: RequestFilters,
  nowMs: number,
): Promise<FilteredFacets> {
  const ofScorer = filters.scorer_name !== undefined
  const columns = [
    ...['id', 'created_at', 'source', 'model', 'provider', 'agent_name', 'tool_name', 'status_code'],
    ...['error is not null as has_error', 'aborted_by', 'worst_label', 'verdict'],
    `${ofScorer ? 'scorer_label' : 'worst_label'} as label`,
    `${ofScorer ? 'scorer_severity' : 'worst_severity'} as severity`,
  ].join(', ')
  const rows = await createRequestStore(database).pick<FacetRow>(filters, columns, facetBound, nowMs)
  const found = rows.slice(0, facetBound)
  const asked = found.filter((row) =>
    source === undefined
      ? withoutSource === undefined || row.source !== withoutSource
      : row.source === source,
  )
  const count = (valuesOf: (row: FacetRow) => (string | null)[]) => countValues(asked.flatMap(valuesOf))
  return {
    calls: asked.length,
    isExact: rows.length <= facetBound,
    of: {
      model: count(({ model }) => [model]),
      provider: count(({ provider }) => [provider]),
      agent_name: count(({ agent_name }) => [agent_name]),
      tool_name: count(({ tool_name }) => [tool_name]),
      label: count(({ label }) => [label ?? 'pending']),
      severity: count(({ severity }) => [severity]),
      verdict: count(({ verdict }) => [verdict]),
      status: count(statusesOf),
    },
    source: countValues(found.map((row) => row.source)),
    review: await countReviewedOf(
      database,
      asked.map(({ id }) => id),
    ),
    scorer_name: await countFired(
      database,
      asked.filter(({ worst_label }) => worst_label === 'unsafe'),
    ),
  }
}

function statusesOf({ status_code, has_error, aborted_by }: FacetRow): string[] {
  const status = status_code ?? 0
  return [
    ...(has_error || status >= 400 ? ['failed'] : []),
    ...(status >= 400 && status <= 499 ? ['4xx'] : []),
    ...(status >= 500 && status <= 599 ? ['5xx'] : []),
    ...(aborted_by === null ? [] : ['aborted']),
  ]
}

/** By scorer, in the live run. */
async function countFired(
  database: ProjectDatabase<OneProject>,
  unsafe: readonly FacetRow[],
): Promise<Counts> {
  if (unsafe.length === 0) return new Map()
  const times = unsafe.map(({ created_at }) => created_at.getTime())
  const least = times.reduce((one, other) => Math.min(one, other))
  const most = times.reduce((one, other) => Math.max(one, other))
  const rows = await database.query<{ scorer_name: string; calls: number }>(
    `select s.scorer_name, count(*)::integer as calls from safety_scores s
     where :scope(s) and s.run_id = $2 and s.request_id = any($3::uuid[]) and s.request_created_at between $4 and $5
       and s.score_label = 'unsafe' group by 1`,
    [
      idToUuid(liveRunId(database.scope.projectId)),
      unsafe.map(({ id }) => id),
      new Date(least),
      new Date(most),
    ],
  )
  return new Map(rows.map(({ scorer_name, calls }) => [scorer_name, calls]))
}

function countValues(values: readonly (string | null)[]): Counts {
  const counts = new Map<string, number>()
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}
