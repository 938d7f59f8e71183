import type { ClientBase, Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { idFromUuid } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { promoteCalls } from './promote-runs.ts'
import type { ReadHistory } from './read-history.ts'
import { loadJobs } from './stores/load-jobs.ts'
import { nextCalls, storedCalls } from './stores/replay-store.ts'
import type { RollupStore } from './stores/rollup-store.ts'
import { changeRun, countScored, lockRun, nextProject, type ScoreRun } from './stores/run-store.ts'

export interface RunDependencies {
  pool: Pool
  rollups: RollupStore
  /** Resolves once Kafka has the jobs. */
  publishJobs: (jobs: readonly ScoreJob[]) => Promise<void>
  /** Jobs of replays that wait for a scorer. */
  backlog: () => Promise<number>
  readHistory: ReadHistory
  clock: Clock
  log: Log
  metrics: Metrics
}

/** Jobs stand in Kafka with their bodies: no more of them than the scorers have work for some minutes. */
const maxBacklog = 5_000
const page = { maxCalls: 500, maxBytes: 16 * 1024 * 1024 }
/** A run whose jobs are all done and whose scores stopped coming this long ago gets no more: some calls have none (sampled out, dead letters). */
const settledAfterMs = 20_000

/**
 * One step of the oldest run: queues its next calls for scoring, counts what has been scored, or promotes its next calls. The jobs are published before the cursor
 * that passes them is committed: a sink that dies in between queues them again, and their scores have the same identifiers. Resolves to
 * whether there is more to do at once.
 */
export function createRunCarrier(dependencies: RunDependencies): () => Promise<boolean> {
  const { pool, rollups, backlog, clock, log, metrics } = dependencies
  const fed = metrics.counter('sluice_sink_replayed_calls_total', 'Calls queued to be scored again')

  async function feed(client: ClientBase, run: ScoreRun): Promise<boolean> {
    if ((await backlog()) >= maxBacklog) return false
    const count =
      run.source === 'kafka'
        ? await feedFromTopic(dependencies, client, run)
        : await feedFromTables(dependencies, client, run)
    fed.inc(count)
    return true
  }

  async function settle(client: ClientBase, run: ScoreRun): Promise<boolean> {
    const scored = await countScored(client, run)
    if (scored !== Number(run.calls_scored)) await changeRun(client, run.id, { calls_scored: scored })
    const missing = Number(run.calls_fed) - scored
    const isSettled = clock.now() - run.updated_at.getTime() >= settledAfterMs && (await backlog()) === 0
    if (missing > 0 && !isSettled) return false
    const problem =
      missing > 0
        ? { problem: `${missing} calls have no score of this run: sampled out, or dead letters` }
        : {}
    await changeRun(client, run.id, { status: 'done', finished_at: new Date(clock.now()), ...problem })
    log.info({ run_id: idFromUuid('run', run.id), calls: scored, missing }, 'a replay is done')
    return true
  }

  const steps: Readonly<Record<ScoreRun['status'], (client: ClientBase, run: ScoreRun) => Promise<boolean>>> =
    {
      queued: feed,
      feeding: feed,
      scoring: settle,
      promoting: (client, run) => promoteCalls(client, run, { rollups, clock }),
    }
  const step = (statuses: readonly ScoreRun['status'][]) =>
    inTransaction(pool, async (client) => {
      const run = await lockRun(client, statuses)
      return run === undefined ? false : steps[run.status](client, run)
    })
  return async () => {
    // Each by itself: a run that waits for the scorers must not keep the next from being fed.
    const progress = [await step(['promoting']), await step(['scoring']), await step(['queued', 'feeding'])]
    return progress.includes(true)
  }
}

/** Returns how many calls were queued. */
async function feedFromTables(
  { publishJobs }: RunDependencies,
  client: ClientBase,
  run: ScoreRun,
): Promise<number> {
  const project = run.cursor_project ?? (await nextProject(client, run, null))
  const calls = project === undefined ? [] : await nextCalls(client, run, project, page)
  const last = calls.at(-1)
  if (last !== undefined) {
    const jobs = await loadJobs(client, calls)
    await publishJobs(jobs.map((job) => jobOfRun(run, job)))
    await changeRun(client, run.id, {
      status: 'feeding',
      calls_fed: Number(run.calls_fed) + calls.length,
      cursor_project: last.project_id,
      cursor_at: last.created_at,
      cursor_id: last.id,
    })
    return calls.length
  }
  const next = project === undefined ? undefined : await nextProject(client, run, project)
  await changeRun(
    client,
    run.id,
    next === undefined
      ? { status: 'scoring' }
      : { status: 'feeding', cursor_project: next, cursor_at: null, cursor_id: null },
  )
  return 0
}

async function feedFromTopic(
  { publishJobs, readHistory }: RunDependencies,
  client: ClientBase,
  run: ScoreRun,
): Promise<number> {
  const { jobs: read, offsets, isEnd } = await readHistory(run, page)
  // What has been erased stays on the topic for days: it is not shown to a judge again.
  const stored = await storedCalls(client, read)
  const jobs = read.filter(({ project_id, request_id }) => stored.has(`${project_id}/${request_id}`))
  await publishJobs(jobs.map((job) => jobOfRun(run, job)))
  await changeRun(client, run.id, {
    status: isEnd ? 'scoring' : 'feeding',
    calls_fed: Number(run.calls_fed) + jobs.length,
    offsets,
  })
  return jobs.length
}

function jobOfRun({ id, scorers, alert }: ScoreRun, job: ScoreJob): ScoreJob {
  return { ...job, run_id: idFromUuid('run', id), scorers, raise_events: alert }
}
