import type { Pool, PoolClient } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid, liveRunId } from '#schemas/ids.ts'
import { builtInScorers } from '#schemas/verdicts.ts'

export const scoreRunStatuses = [
  'queued',
  'feeding',
  'scoring',
  'done',
  'cancelled',
  'failed',
  'promoting',
  'promoted',
] as const
export type ScoreRunStatus = (typeof scoreRunStatuses)[number]

/** Which calls to score again, with which scorers. */
export interface ScoreRunOrder {
  /** Undefined: all projects. */
  projectId: string | undefined
  startMs: number
  endMs: number
  /** Undefined: those of each call's tier, and the custom ones. */
  scorers: readonly string[] | undefined
  source: 'postgres' | 'kafka'
  alert: boolean
}

export interface ScoreRun {
  id: string
  project_id: string | null
  start: string
  end: string
  scorers: string[] | null
  source: 'postgres' | 'kafka'
  alert: boolean
  status: ScoreRunStatus
  calls_total: number
  calls_fed: number
  calls_scored: number
  problem: string | null
  created_at: string
  finished_at: string | null
}

/** The estimate of an order. */
export interface ScoreRunEstimate {
  calls: number
  /** False: counted in whole hours. */
  calls_are_exact: boolean
  /** Null: not counted. */
  calls_without_bodies: number | null
  /**
   * Over all scorers, from the judge's cost per call of the projects in their current periods. Null: no cost
   * so far.
   */
  estimated_judge_usd: number | null
}

interface RunRow {
  id: string
  project_id: string | null
  start_at: Date
  end_at: Date
  scorers: string[] | null
  source: ScoreRun['source']
  alert: boolean
  status: ScoreRunStatus
  calls_total: string
  calls_fed: string
  calls_scored: string
  problem: string | null
  created_at: Date
  finished_at: Date | null
}

/** More calls than this are counted by the hour, from the roll-ups: counting each would take too long. */
const maxCounted = 200_000

/** Estimates an order. Reads no bodies. */
export async function estimateRun(pool: Pool, order: ScoreRunOrder): Promise<ScoreRunEstimate> {
  const range = [uuidOrNull(order.projectId), new Date(order.startMs), new Date(order.endMs)]
  const { rows } = await query<{ calls: string; usd: number | null }>(pool, rolledUpSql, range)
  const calls = Number(rows[0]?.calls ?? 0)
  const estimated_judge_usd = rows[0]?.usd ?? null
  if (calls > maxCounted)
    return { calls, calls_are_exact: false, calls_without_bodies: null, estimated_judge_usd }
  const { rows: counted } = await query<{ calls: string; bare: string }>(pool, countSql, range)
  return {
    calls: Number(counted[0]?.calls ?? 0),
    calls_are_exact: true,
    calls_without_bodies: Number(counted[0]?.bare ?? 0),
    estimated_judge_usd,
  }
}

// The judge's cost per stored call of each project in its period, which includes modes, sampling and
// grouping. Null when it is unknown for a project with calls and a judge.
const rolledUpSql = `
  with asked as (
    select p.id, p.judge_mode, (select sum(calls) from call_rollups c where c.project_id = p.id and c.hour >= date_trunc('hour', $2::timestamptz, 'UTC')
      and c.hour < $3) as calls
    from projects p where $1::uuid is null or p.id = $1
  ), costs as (
    select a.*, case when a.judge_mode = 'never' then 0 else (
      select s.spent_usd / nullif((select sum(calls) from call_rollups c where c.project_id = a.id and c.hour >= s.period_start), 0)
      from judge_spend s where s.project_id = a.id and s.period_reset_at > now() and s.spent_usd > 0) end as usd
    from asked a where a.calls > 0
  )
  select coalesce(sum(calls), 0) as calls, case when bool_and(usd is not null) then sum(calls * usd) end::float8 as usd from costs`

const countSql = `
  select coalesce(sum(calls.count), 0) as calls, coalesce(sum(calls.bare), 0) as bare from projects p cross join lateral (
    select count(*) as count, count(*) filter (where b.request_id is null) as bare from llm_requests r
    left join llm_request_bodies b on b.project_id = r.project_id and b.request_id = r.id and b.created_at = r.created_at
    where r.project_id = p.id and r.created_at >= $2 and r.created_at < $3
  ) calls where $1::uuid is null or p.id = $1`

/**
 * The names that are neither built in nor of a recently counted score: new or stopped custom scorers, or
 * typos.
 */
export async function scorersWithoutScores(pool: Pool, names: readonly string[]): Promise<string[]> {
  const custom = names.filter((name) => !(builtInScorers as readonly string[]).includes(name))
  if (custom.length === 0) return []
  const { rows } = await query<{ name: string }>(
    pool,
    `select name from unnest($1::text[]) as asked (name)
     where not exists (select from score_rollups r where r.scorer_name = asked.name and r.hour > now() - interval '40 days')
       and not exists (select from project_scorers s where s.name = asked.name and s.enabled)`,
    [custom],
  )
  return rows.map(({ name }) => name)
}

/** Orders a run; the sinks carry it out. */
export async function insertRun(
  client: PoolClient,
  id: string,
  order: ScoreRunOrder,
  { callsTotal, problem, nowMs }: { callsTotal: number; problem: string | null; nowMs: number },
): Promise<void> {
  await query(
    client,
    `insert into score_runs (id, project_id, start_at, end_at, scorers, source, alert, status, calls_total, problem, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, 'queued', $8, $9, $10)`,
    [
      idToUuid(id),
      uuidOrNull(order.projectId),
      new Date(order.startMs),
      new Date(order.endMs),
      order.scorers ?? null,
      order.source,
      order.alert,
      callsTotal,
      problem,
      new Date(nowMs),
    ],
  )
}

export async function findRun(pool: Pool, id: string): Promise<ScoreRun | undefined> {
  const { rows } = await query<RunRow>(pool, 'select * from score_runs where id = $1', [idToUuid(id)])
  return rows[0] === undefined ? undefined : presentRun(rows[0])
}

/** Moves a run from one of `from` to `to` and resets its cursor; false when it is in none of them. */
export async function moveRun(
  client: PoolClient,
  id: string,
  from: readonly ScoreRunStatus[],
  to: ScoreRunStatus,
): Promise<boolean> {
  const { rowCount } = await query(
    client,
    `update score_runs set status = $3, cursor_project = null, cursor_at = null, cursor_id = null, updated_at = now(),
       finished_at = case when $3 = 'cancelled' then now() end
     where id = $1 and status = any ($2)`,
    [idToUuid(id), from, to],
  )
  return rowCount === 1
}

/** The projects of a run, with the live run of each. */
export async function projectsOfRun(
  pool: Pool,
  run: Pick<ScoreRun, 'project_id'>,
): Promise<{ uuid: string; liveRunUuid: string }[]> {
  const { rows } = await query<{ id: string }>(
    pool,
    'select id from projects where $1::uuid is null or id = $1',
    [uuidOrNull(run.project_id ?? undefined)],
  )
  return rows.map(({ id }) => ({
    uuid: id,
    liveRunUuid: idToUuid(liveRunId(idFromUuid('project', id))),
  }))
}

function uuidOrNull(projectId: string | undefined): string | null {
  return projectId === undefined ? null : idToUuid(projectId)
}

export function presentRun(row: RunRow): ScoreRun {
  return {
    id: idFromUuid('run', row.id),
    project_id: row.project_id === null ? null : idFromUuid('project', row.project_id),
    start: row.start_at.toISOString(),
    end: row.end_at.toISOString(),
    scorers: row.scorers,
    source: row.source,
    alert: row.alert,
    status: row.status,
    calls_total: Number(row.calls_total),
    calls_fed: Number(row.calls_fed),
    calls_scored: Number(row.calls_scored),
    problem: row.problem,
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  }
}

export type { RunRow as ScoreRunRow }
