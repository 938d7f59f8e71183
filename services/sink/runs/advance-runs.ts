import type { ClientBase } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { idFromUuid } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { promoteCalls } from './promote-runs.ts'
import { createPublishEach, type PublishEach } from '../publish-each.ts'
import type { ReadHistory } from './read-history.ts'
import { runEach } from '../upkeep/run-each.ts'
import { settleRun, type SettleDependencies } from './settle-run.ts'
import { loadJobs } from '../stores/load-jobs.ts'
import { nextCalls, storedCalls } from '../stores/replay-store.ts'
import type { RollupStore } from '../stores/rollup-store.ts'
import {
  changeRun,
  findScoring,
  joinProblems,
  lockRun,
  nextProject,
  type ScoreRun,
} from '../stores/run-store.ts'

export interface RunDependencies extends SettleDependencies {
  rollups: RollupStore
  /** Resolves once Kafka has the jobs. */
  publishJobs: (jobs: readonly ScoreJob[]) => Promise<void>
  /** Jobs of replays that wait for a scorer. */
  waitingJobs: () => Promise<number>
  /** More jobs are not queued while so many wait: they stand in Kafka with their bodies. */
  maxWaitingJobs: number
  readHistory: ReadHistory
  metrics: Metrics
}

const page = { maxCalls: 500, maxBytes: 16 * 1024 * 1024 }
const runsSettledAtOnce = 20
/** Counting what a run has scored takes at most a tenth of a sink's time: of a month of many projects it is seconds. */
const restFactor = 9

/**
 * One step of the oldest run: queues its next calls for scoring, counts what has been scored, or promotes its next calls. The jobs are published before the cursor
 * that passes them is committed: a sink that dies in between queues them again, and their scores have the same identifiers. Resolves to
 * whether there is more to do at once.
 */
export function createRunAdvance(dependencies: RunDependencies): () => Promise<boolean> {
  const { pool, rollups, clock, log, metrics } = dependencies
  const fed = metrics.counter('sluice_sink_replayed_calls_total', 'Calls queued to be scored again')
  const publish = createPublishEach(dependencies.publishJobs, (job, error) => {
    log.error(
      { err: error, request_id: job.request_id, run_id: job.run_id },
      'Kafka refuses the job of a replay',
    )
  })

  async function feed(client: ClientBase, run: ScoreRun): Promise<boolean> {
    if ((await dependencies.waitingJobs()) >= dependencies.maxWaitingJobs) return false
    const feeding = { ...dependencies, publish }
    const count =
      run.source === 'kafka'
        ? await feedFromTopic(feeding, client, run)
        : await feedFromTables(feeding, client, run)
    fed.inc(count)
    return true
  }

  const promote = (client: ClientBase, run: ScoreRun) => promoteCalls(client, run, { rollups, clock })
  const step = (
    statuses: readonly ScoreRun['status'][],
    work: (client: ClientBase, run: ScoreRun) => Promise<boolean>,
  ) =>
    inTransaction(pool, async (client) => {
      const run = await lockRun(client, statuses)
      return run !== undefined && work(client, run)
    })
  const pacing = createPacing(clock)
  return async () => {
    const due = pacing.findDue(await findScoring(pool, runsSettledAtOnce))
    // Each by itself: a run that waits for the scorers, or cannot be counted, must not keep the others from going on.
    const progress = await runEach(
      [
        () => step(['promoting'], promote),
        () => step(['queued', 'feeding'], feed),
        ...due.map((id) => () => pacing.look(id, () => settleRun(dependencies, id))),
      ],
      log,
    )
    return progress.includes(true)
  }
}

/** Lets a run rest in proportion to how long it took to look at it. */
function createPacing(clock: Clock) {
  const restsUntilMs = new Map<string, number>()
  return {
    findDue(ids: readonly string[]): string[] {
      for (const id of restsUntilMs.keys()) if (!ids.includes(id)) restsUntilMs.delete(id)
      return ids.filter((id) => clock.now() >= (restsUntilMs.get(id) ?? 0))
    },
    async look<T>(id: string, work: () => Promise<T>): Promise<T> {
      const begunMs = clock.now()
      try {
        return await work()
      } finally {
        const endedMs = clock.now()
        restsUntilMs.set(id, endedMs + restFactor * (endedMs - begunMs))
      }
    },
  }
}

interface Feeding extends RunDependencies {
  publish: PublishEach
}

/** Queues jobs of a run; what is refused is said on the run. Returns how many were queued, and the run's new problem. */
async function queueJobs(
  { publish }: Feeding,
  run: ScoreRun,
  jobs: readonly ScoreJob[],
): Promise<{ count: number; problem?: string }> {
  const refused = await publish(jobs.map((job) => jobOfRun(run, job)))
  const said =
    refused.length > 0 ? joinProblems(run, `Kafka refuses the jobs of ${refused.length} calls`) : {}
  return { count: jobs.length - refused.length, ...said }
}

/** Returns how many calls were queued. */
async function feedFromTables(feeding: Feeding, client: ClientBase, run: ScoreRun): Promise<number> {
  const project = run.cursor_project ?? (await nextProject(client, run, null))
  const calls = project === undefined ? [] : await nextCalls(client, run, project, page)
  const last = calls.at(-1)
  if (last !== undefined) {
    const jobs = await loadJobs(client, calls, feeding.clock.now())
    const { count, ...problem } = await queueJobs(feeding, run, jobs)
    await changeRun(client, run.id, {
      status: 'feeding',
      ...problem,
      calls_fed: Number(run.calls_fed) + count,
      cursor_project: last.project_id,
      cursor_at: last.created_at,
      cursor_id: last.id,
    })
    return count
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

async function feedFromTopic(feeding: Feeding, client: ClientBase, run: ScoreRun): Promise<number> {
  const { jobs: read, offsets, isEnd, lost } = await feeding.readHistory(run, page)
  // What has been erased stays on the topic for days: it is not shown to a judge again.
  const stored = await storedCalls(client, read)
  // Taken out as it is found: of a call that a client sent again, which stands beside the first as a rule, one is scored and counted.
  const jobs = read.filter(({ project_id, request_id }) => stored.delete(`${project_id}/${request_id}`))
  const told = lost === 0 ? run : { ...run, ...joinProblems(run, `the topic kept ${lost} records no longer`) }
  const { count, problem = told.problem } = await queueJobs(feeding, told, jobs)
  await changeRun(client, run.id, {
    status: isEnd ? 'scoring' : 'feeding',
    ...(problem === null ? {} : { problem }),
    calls_fed: Number(run.calls_fed) + count,
    offsets,
  })
  return count
}

function jobOfRun({ id, scorers, alert }: ScoreRun, job: ScoreJob): ScoreJob {
  return { ...job, run_id: idFromUuid('run', id), scorers, raise_events: alert }
}
