import type { ClientBase, Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import type { QueueEnds } from '../upkeep/follow-queues.ts'

/** A run as the sinks carry it out. */
export interface ScoreRun {
  id: string
  /** Null: all projects. */
  project_id: string | null
  start_at: Date
  end_at: Date
  scorers: string[] | null
  source: 'postgres' | 'kafka'
  alert: boolean
  status: 'queued' | 'feeding' | 'scoring' | 'promoting'
  calls_fed: string
  calls_scored: string
  cursor_project: string | null
  cursor_at: Date | null
  cursor_id: string | null
  offsets: Record<string, PartitionRange> | null
  /** Of a run whose calls are all queued: how far the queues have to come until all scores that it gets are stored. Null: not asked yet. */
  awaited: QueueEnds | null
  problem: string | null
}

/** Offsets as text: JSON has no larger numbers than 2^53. */
export interface PartitionRange {
  next: string
  end: string
}

export type RunChanges = Partial<
  Pick<ScoreRun, 'cursor_project' | 'cursor_at' | 'cursor_id' | 'offsets' | 'awaited'> & {
    status: string
    calls_fed: number
    calls_scored: number
    problem: string
    finished_at: Date
  }
>

/**
 * The oldest run that is in one of `statuses`, or the one that is named if it is, locked until the transaction ends: a sink that dies lets go of it, and
 * another goes on from its cursor. One that another sink is at is left out.
 */
export async function lockRun(
  client: ClientBase,
  statuses: readonly ScoreRun['status'][],
  id?: string,
): Promise<ScoreRun | undefined> {
  const { rows } = await client.query<ScoreRun>(
    `select * from score_runs where status = any ($1) and ($2::uuid is null or id = $2)
     order by created_at, id limit 1 for update skip locked`,
    [statuses, id ?? null],
  )
  return rows[0]
}

/** The oldest runs that wait for their scores. */
export async function findScoring(pool: Pool, limit: number): Promise<string[]> {
  const { rows } = await query<{ id: string }>(
    pool,
    `select id from score_runs where status = 'scoring' order by created_at, id limit $1`,
    [limit],
  )
  return rows.map(({ id }) => id)
}

/** A run that waits for its scores, as it stands: others may change it. */
export async function readScoring(pool: Pool, id: string): Promise<ScoreRun | undefined> {
  const { rows } = await query<ScoreRun>(
    pool,
    `select * from score_runs where id = $1 and status = 'scoring'`,
    [id],
  )
  return rows[0]
}

/** Writes down how far a locked run has come. */
export async function changeRun(client: ClientBase, id: string, changes: RunChanges): Promise<void> {
  const names = Object.keys(changes) as (keyof RunChanges)[]
  const sets = names.map((name, index) => `${name} = $${index + 2}`)
  // What is an object goes as JSON by itself (pg).
  const values = names.map((name) => changes[name])
  await client.query(`update score_runs set ${[...sets, 'updated_at = now()'].join(', ')} where id = $1`, [
    id,
    ...values,
  ])
}

/** What is wrong with a run, after what was wrong before. */
export function joinProblems({ problem }: ScoreRun, another: string): { problem: string } {
  return { problem: problem === null ? another : `${problem}; ${another}` }
}

/** The project after `last` that a run is of; undefined after the last. */
export async function nextProject(
  client: ClientBase,
  { project_id: only }: Pick<ScoreRun, 'project_id'>,
  last: string | null,
): Promise<string | undefined> {
  const { rows } = await client.query<{ id: string }>(
    `select id from projects where ($1::uuid is null or id = $1) and ($2::uuid is null or id > $2) order by id limit 1`,
    [only, last],
  )
  return rows[0]?.id
}

/** How many calls have scores of the run: as many as the scorer that has scored most. From the roll-ups, so that asking is cheap. */
export async function countScored(pool: Pool, { id, start_at, end_at }: ScoreRun): Promise<number> {
  const { rows } = await query<{ scored: string }>(
    pool,
    `select coalesce(max(scored), 0) as scored from (
       select sum(scores) as scored from score_rollups
       where run_id = $1 and hour >= date_trunc('hour', $2::timestamptz, 'UTC') and hour < $3 group by scorer_name
     ) by_scorer`,
    [id, start_at, end_at],
  )
  return Number(rows[0]?.scored ?? 0)
}
