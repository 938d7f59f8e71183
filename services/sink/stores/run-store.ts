import type { ClientBase, Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import type { QueueEnds } from '../upkeep/follow-queues.ts'

/** A run that scores history again, as the sinks advance it. */
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
  /** Once all calls are queued: the ends that a queue has to pass (`passQueues`). Null: not read yet. */
  awaited: QueueEnds | null
  problem: string | null
}

/** Offsets as text: JSON numbers end at 2^53. */
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
 * Locks the oldest run with one of `statuses`, or run `id` if it has one. Skips runs that another sink has
 * locked. The lock ends with the transaction: if a sink crashes, another goes on from the cursor.
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

/** A run that waits for its scores. Not locked: others may change it. */
export async function readScoring(pool: Pool, id: string): Promise<ScoreRun | undefined> {
  const { rows } = await query<ScoreRun>(
    pool,
    `select * from score_runs where id = $1 and status = 'scoring'`,
    [id],
  )
  return rows[0]
}

/** Writes the progress of a locked run. */
export async function changeRun(client: ClientBase, id: string, changes: RunChanges): Promise<void> {
  const names = Object.keys(changes) as (keyof RunChanges)[]
  const sets = names.map((name, index) => `${name} = $${index + 2}`)
  // pg sends objects as JSON.
  const values = names.map((name) => changes[name])
  await client.query(`update score_runs set ${[...sets, 'updated_at = now()'].join(', ')} where id = $1`, [
    id,
    ...values,
  ])
}

/** Appends to a run's problems. */
export function joinProblems({ problem }: ScoreRun, another: string): { problem: string } {
  return { problem: problem === null ? another : `${problem}; ${another}` }
}

/** The run's next project after `last`; undefined after the last. */
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

/** Moves a run to its next project, with the changes `going`; after its last project, writes `done`. */
export async function advanceProject(
  client: ClientBase,
  run: ScoreRun,
  project: string | undefined,
  { going, done }: { going?: RunChanges; done: RunChanges },
): Promise<void> {
  const next = project === undefined ? undefined : await nextProject(client, run, project)
  const ofNext = { ...going, cursor_project: next ?? null, cursor_at: null, cursor_id: null }
  await changeRun(client, run.id, next === undefined ? done : ofNext)
}

/** How many calls the run has scored, by its most advanced scorer. Cheap: read from the roll-ups. */
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
