import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { ScoreLabel } from '#schemas/verdicts.ts'
import { projectsOfRun, type ScoreRun } from './score-run-store.ts'

/**
 * The difference of one scorer's scores of the same calls between two runs. `before` null: the other run has
 * none.
 */
export interface ScorerDiff {
  scorer_name: string
  compared: number
  changed: number
  changes: { before: ScoreLabel | null; after: ScoreLabel; count: number }[]
  average_change: number | null
}

export interface ChangedVerdict {
  project_id: string
  request_id: string
  request_created_at: string
  scorer_name: string
  before: { label: ScoreLabel | null; value: number | null }
  after: { label: ScoreLabel; value: number | null }
}

export interface RunDiff {
  scorers: ScorerDiff[]
  examples: ChangedVerdict[]
  /** False: only the first scores were compared. */
  is_complete: boolean
}

/** 100,000 lookups of one score take about a second. */
const maxCompared = 100_000
const maxExamples = 50

// $1, $2, $3: projects, their runs before and after; $4, $5: the time range of the calls.
const pairsSql = `
  select a.project_id, a.request_id, a.request_created_at, a.scorer_name, b.score_label as before_label, b.score_value as before_value,
    a.score_label as after_label, a.score_value as after_value
  from (
    select s.* from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as p (project_id, run_before, run_after) cross join lateral (
      select x.*, p.run_before from safety_scores x where x.project_id = p.project_id and x.run_id = p.run_after
        and x.request_created_at >= $4 and x.request_created_at < $5 order by x.request_created_at desc, x.id desc limit ${maxCompared}
    ) s limit ${maxCompared}
  ) a left join safety_scores b on b.project_id = a.project_id and b.request_id = a.request_id
    and b.request_created_at = a.request_created_at and b.scorer_name = a.scorer_name and b.run_id = a.run_before`

interface CountRow {
  scorer_name: string
  before_label: ScoreLabel | null
  after_label: ScoreLabel
  count: number
  change_sum: number | null
  valued: number
}

interface ExampleRow {
  project_id: string
  request_id: string
  request_created_at: Date
  scorer_name: string
  before_label: ScoreLabel | null
  before_value: number | null
  after_label: ScoreLabel
  after_value: number | null
}

/** Compares `run` with `beforeRunId` (undefined: the live run of each project). */
export async function diffRuns(pool: Pool, run: ScoreRun, beforeRunId: string | undefined): Promise<RunDiff> {
  const projects = await projectsOfRun(pool, run)
  const before = beforeRunId === undefined ? undefined : idToUuid(beforeRunId)
  const values = [
    projects.map(({ uuid }) => uuid),
    projects.map(({ liveRunUuid }) => before ?? liveRunUuid),
    projects.map(() => idToUuid(run.id)),
    run.start,
    run.end,
  ]
  const { rows: counts } = await query<CountRow>(
    pool,
    `select scorer_name, before_label, after_label, count(*)::integer as count,
       sum(after_value - before_value) as change_sum, count(after_value - before_value)::integer as valued
     from (${pairsSql}) pairs group by 1, 2, 3 order by 1, 2, 3`,
    values,
  )
  const { rows: examples } = await query<ExampleRow>(
    pool,
    `select * from (${pairsSql}) pairs where before_label is distinct from after_label
     order by request_created_at desc, request_id, scorer_name limit ${maxExamples}`,
    values,
  )
  const compared = counts.reduce((sum, { count }) => sum + count, 0)
  return {
    scorers: [...Map.groupBy(counts, ({ scorer_name }) => scorer_name)].map(([name, rows]) =>
      scorerDiff(name, rows),
    ),
    examples: examples.map(exampleOf),
    is_complete: compared < maxCompared,
  }
}

function scorerDiff(scorerName: string, rows: readonly CountRow[]): ScorerDiff {
  const sum = (numberOf: (row: CountRow) => number) => rows.reduce((total, row) => total + numberOf(row), 0)
  const changed = rows.filter((row) => row.before_label !== row.after_label)
  const valued = sum((row) => row.valued)
  return {
    scorer_name: scorerName,
    compared: sum(({ count }) => count),
    changed: changed.reduce((total, { count }) => total + count, 0),
    changes: changed.map((row) => ({ before: row.before_label, after: row.after_label, count: row.count })),
    average_change: valued === 0 ? null : sum((row) => row.change_sum ?? 0) / valued,
  }
}

function exampleOf(row: ExampleRow): ChangedVerdict {
  return {
    project_id: idFromUuid('project', row.project_id),
    request_id: idFromUuid('request', row.request_id),
    request_created_at: row.request_created_at.toISOString(),
    scorer_name: row.scorer_name,
    before: { label: row.before_label, value: row.before_value },
    after: { label: row.after_label, value: row.after_value },
  }
}
