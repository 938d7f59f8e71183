import { idFromUuid, idTimeMs, idToUuid, liveRunId } from '#schemas/ids.ts'
import type { Score } from '#schemas/safety-score-recorded.ts'
import { sealedOf } from '#schemas/sealed-bytes.ts'
import type { ScoreLabel, Severity } from '#schemas/verdicts.ts'
import type { Counted, Paging } from '../http/paging.ts'
import type { SourceFilter } from '../http/source-filter.ts'
import { Conditions, everyDay, type WithinDays } from './conditions.ts'
import { findCountedHours } from './find-counted-hours.ts'
import { listRows, type ListStatement } from './list-rows.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import { requestOf } from './request-columns.ts'

export interface ScoreFilters extends SourceFilter {
  request_id?: string | undefined
  scorer_name?: string | undefined
  min_score?: number | undefined
  label?: ScoreLabel | undefined
  severity?: Severity | undefined
  suppressed?: boolean | undefined
  /** Absent: the live run. */
  run_id?: string | undefined
  /** The time of the request, in Unix milliseconds. */
  start?: number | undefined
  end?: number | undefined
}

/** What a score found, without its hash. */
export interface FoundKind {
  kind: string
  tool: string | null
  /** Whether a suppression can be made of the exact value. */
  has_hash: boolean
}

/** A score in lists. `details` and `found_values` are null once erased. */
export interface StoredScore extends Omit<Score, 'scored_at' | 'found_values' | 'found_more'> {
  found_values: FoundKind[] | null
  /** The suppression that marks it. */
  suppressed_by: string | null
  project_id: string
  request_id: string
  run_id: string
  created_at: string
}

/** As safety_score_details has it; the hash in hexadecimal digits. */
export interface StoredFoundValue {
  kind: string
  tool: string | null
  hash: string | null
}

export type ScoreRow = Omit<StoredScore, 'created_at' | 'details' | 'found_values'> & {
  created_at: Date
  found_values: StoredFoundValue[] | null
  codec: string | null
  key_id: string | null
  data: Buffer | null
}

const ownColumns = [
  'id',
  'project_id',
  'request_id',
  'run_id',
  'scorer_name',
  'score_value',
  'score_label',
  'severity',
  'method',
  'scorer_version',
  'owasp_category',
  'reason',
  'created_at',
  'suppressed_by',
] as const
type OwnColumn = (typeof ownColumns)[number]

/** The columns of the score `owner`, with its details `d`. */
export function scoreColumns(owner: string): string {
  return [
    ...ownColumns.map((name) => `${owner}.${name}`),
    'd.codec',
    'd.key_id',
    'd.data',
    'd.found_values',
  ].join(', ')
}

/** The details `d` of the score `owner`. */
export function detailsOf(owner: string, within: WithinDays = everyDay): string {
  return `left join lateral (
  select codec, key_id, data, found_values from safety_score_details e where e.project_id = ${owner}.project_id and e.score_id = ${owner}.id
    and e.request_created_at = ${owner}.request_created_at${within('e.request_created_at')} limit 1) d on true`
}

/** Scores of one project: the live run depends on the project. */
export function createScoreStore(database: ProjectDatabase<OneProject>) {
  const { projectId } = database.scope
  return {
    /** Newest requests first. */
    async list(
      filters: ScoreFilters,
      paging: Paging,
      nowMs: number,
    ): Promise<{ items: StoredScore[]; counted: Counted }> {
      const conditions = scoreConditions(filters, projectId)
      const own = conditions.text
      const joins = joinSource(filters, conditions)
      const { rows, counted } = await listRows<ScoreRow>(database, paging, {
        columns: 's.*',
        from: 'safety_scores s',
        alias: 's',
        timeColumn: 's.request_created_at',
        idColumn: 's.id',
        conditions,
        ...(joins !== undefined && { scanned: { own, joins } }),
        joined: {
          columns: scoreColumns('page'),
          joins: (within) => detailsOf('page', within),
          time: 'request_created_at',
          id: 'id',
        },
        days: await findDays(database, filters, nowMs),
      })
      return { items: rows.map(scoreOf), counted }
    },

    /** The live scores of calls that are sorted by time. */
    async ofRequests(calls: readonly { id: string; created_at: string }[]): Promise<StoredScore[]> {
      const [first, last] = [calls[0], calls.at(-1)]
      if (first === undefined || last === undefined) return []
      const conditions = scoreConditions({}, projectId)
      conditions.add(`s.request_id = any(${conditions.bind(calls.map(({ id }) => idToUuid(id)))}::uuid[])`)
      // A separate condition, which selects the partitions.
      const range = [Date.parse(first.created_at), Date.parse(last.created_at) + 1] as const
      conditions.within('s.request_created_at', ...range)
      const details = detailsOf('s', conditions.daysWithin(...range))
      const rows = await database.query<ScoreRow>(
        `select ${scoreColumns('s')} from safety_scores s ${details} where :scope(s)${conditions.text} order by s.scorer_name`,
        conditions.values,
      )
      return rows.map(scoreOf)
    },

    /** The live scores of one request, by scorer. */
    async ofRequest(requestId: string): Promise<StoredScore[]> {
      const conditions = scoreConditions({ request_id: requestId }, projectId)
      const atMs = idTimeMs(requestId)
      const details = detailsOf('s', conditions.daysWithin(atMs, atMs + 1))
      const rows = await database.query<ScoreRow>(
        `select ${scoreColumns('s')} from safety_scores s ${details} where :scope(s)${conditions.text} order by s.scorer_name`,
        conditions.values,
      )
      return rows.map(scoreOf)
    },
  }
}

/** The unsafe scores of one request in any run: replaced live runs have raised events too. */
export async function findUnsafeScores(
  database: ProjectDatabase<OneProject>,
  requestId: string,
): Promise<{ id: string; scorer_name: string }[]> {
  const rows = await database.query<{ id: string; scorer_name: string }>(
    `select s.id, s.scorer_name from safety_scores s
     where :scope(s) and s.request_id = $2 and s.request_created_at = $3 and s.score_label = 'unsafe'`,
    [idToUuid(requestId), new Date(idTimeMs(requestId))],
  )
  return rows.map(({ id, scorer_name }) => ({ id: idFromUuid('score', id), scorer_name }))
}

/** Of one request its own time; of a scorer in the live run, the days with counts. */
async function findDays(
  database: ProjectDatabase<OneProject>,
  filters: ScoreFilters,
  nowMs: number,
): Promise<NonNullable<ListStatement['days']>> {
  const { request_id, run_id, scorer_name, start, end } = filters
  if (request_id !== undefined) {
    const atMs = idTimeMs(request_id)
    return { nowMs, startMs: atMs, endMs: atMs + 1 }
  }
  const isCounted = scorer_name !== undefined && run_id === undefined
  const counted = isCounted ? await findCountedHours(database, filters, nowMs) : undefined
  return {
    nowMs,
    startMs: counted?.start ?? start,
    endMs: counted?.end ?? end,
    ranges: counted?.ranges,
  }
}

/** The conditions of the filters on the score `s`. */
export function scoreConditions(filters: ScoreFilters, projectId: string): Conditions {
  const conditions = new Conditions()
  conditions.equal('s.run_id', idToUuid(filters.run_id ?? liveRunId(projectId)))
  if (filters.request_id !== undefined) {
    conditions.equal('s.request_id', idToUuid(filters.request_id))
    conditions.equal('s.request_created_at', new Date(idTimeMs(filters.request_id)))
  }
  conditions.equal('s.scorer_name', filters.scorer_name)
  conditions.equal('s.score_label', filters.label)
  // Implied by a severity, but needed for the index on unsafe scores.
  if (filters.severity !== undefined) conditions.add(`s.score_label = 'unsafe'`)
  conditions.equal('s.severity', filters.severity)
  if (filters.suppressed === true) conditions.add(`s.score_label = 'unsafe' and s.suppressed_by is not null`)
  if (filters.suppressed === false) conditions.add('s.suppressed_by is null')
  if (filters.min_score !== undefined)
    conditions.add(`s.score_value >= ${conditions.bind(filters.min_score)}`)
  conditions.within('s.request_created_at', filters.start, filters.end)
  return conditions
}

/** Adds the filter by source of the score's request; returns the join that it needs. */
export function joinSource(
  { source, withoutSource }: SourceFilter,
  conditions: Conditions,
): ((within: WithinDays) => string) | undefined {
  if (source === undefined && withoutSource === undefined) return undefined
  conditions.equal('r.source', source)
  conditions.differ('r.source', withoutSource)
  return (within) => requestOf('s', 'request_id', 'request_created_at', within)
}

/** The score of a row. */
export function scoreOf({ codec, key_id, data, found_values, ...row }: ScoreRow): StoredScore {
  const own = Object.fromEntries(ownColumns.map((name) => [name, row[name]])) as Pick<ScoreRow, OwnColumn>
  return {
    ...own,
    id: idFromUuid('score', row.id),
    project_id: idFromUuid('project', row.project_id),
    request_id: idFromUuid('request', row.request_id),
    run_id: idFromUuid('run', row.run_id),
    created_at: row.created_at.toISOString(),
    suppressed_by: row.suppressed_by === null ? null : idFromUuid('suppression', row.suppressed_by),
    found_values:
      found_values?.map(({ kind, tool, hash }) => ({ kind, tool, has_hash: hash !== null })) ?? null,
    details: sealedOf(codec, key_id, data),
  }
}
