import type { ClientBase } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { idFromUuid } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { promoteCalls } from './promote-runs.ts'
import { publishEach } from '../publish-records.ts'
import type { ReadHistory } from './read-history.ts'
import { runEach } from '../upkeep/run-each.ts'
import type { JobContext } from '../upkeep/upkeep-job.ts'
import { settleRun, type SettleDependencies } from './settle-run.ts'
import { loadJobs } from '../stores/load-jobs.ts'
import { nextCalls, storedCalls } from '../stores/replay-store.ts'
import {
  advanceProject,
  changeRun,
  findScoring,
  joinProblems,
  lockRun,
  nextProject,
  type ScoreRun,
} from '../stores/run-store.ts'

export interface RunDependencies extends SettleDependencies, Pick<JobContext, 'rollups' | 'metrics'> {
  /** Resolves once Kafka has the jobs. */
  publishJobs: (jobs: readonly ScoreJob[]) => Promise<void>
  /** How many replay jobs wait for a scorer. */
  waitingJobs: () => Promise<number>
  /** While more wait, none are queued: jobs lie in Kafka with their bodies. */
  maxWaitingJobs: number
  readHistory: ReadHistory
}

const page = { maxCalls: 500, maxBytes: 16 * 1024 * 1024 }
const runsSettledAtOnce = 20
/** Counting takes at most a tenth of a sink's time: for a month of many projects it takes seconds. */
const restFactor = 9

/**
 * Advances the runs that score history again: queues the next calls of the oldest, promotes the next calls of
 * another, and counts what has been scored. Jobs are published before the cursor that passes them is
 * committed: a sink that crashes in between queues them again, and their scores have the same identifiers.
 * Resolves to whether there is more to do at once.
 */
export function createRunAdvance(dependencies: RunDependencies): () => Promise<boolean> {
  const { pool, rollups, clock, log, metrics } = dependencies
  const fed = metrics.counter('sluice_sink_replayed_calls_total', 'Calls queued to be scored again')

  async function feed(client: ClientBase, run: ScoreRun): Promise<boolean> {
    if ((await dependencies.waitingJobs()) >= dependencies.maxWaitingJobs) return false
    const count =
      run.source === 'kafka'
        ? await feedFromTopic(dependencies, client, run)
        : await feedFromTables(dependencies, client, run)
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
    // Each by itself: a run that waits for the scorers, or cannot be counted, must not stop the others.
    const progress = await runEach(
      [
        () => step(['promoting'], promote),
        () => step(['queued', 'feeding'], feed),
        ...due.map((id) => () => pacing.time(id, () => settleRun(dependencies, id))),
      ],
      log,
    )
    return progress.includes(true)
  }
}

/** A run's next count waits in proportion to how long the last took. */
function createPacing(clock: Clock) {
  const restsUntilMs = new Map<string, number>()
  return {
    findDue(ids: readonly string[]): string[] {
      for (const id of restsUntilMs.keys()) if (!ids.includes(id)) restsUntilMs.delete(id)
      return ids.filter((id) => clock.now() >= (restsUntilMs.get(id) ?? 0))
    },
    async time<T>(id: string, work: () => Promise<T>): Promise<T> {
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

/** Queues jobs of a run. Returns how many were queued, and the run's problem if Kafka refused some. */
async function queueJobs(
  { publishJobs, log }: RunDependencies,
  run: ScoreRun,
  jobs: readonly ScoreJob[],
): Promise<{ count: number; problem?: string }> {
  const ofRun = jobs.map((job) => jobOfRun(run, job))
  const refused = await publishEach(publishJobs, ofRun, (job, error) =>
    log.error(
      { err: error, request_id: job.request_id, run_id: job.run_id },
      'Kafka refuses the job of a replay',
    ),
  )
  const problem =
    refused.length > 0 ? joinProblems(run, `Kafka refuses the jobs of ${refused.length} calls`) : {}
  return { count: jobs.length - refused.length, ...problem }
}

/** Returns how many calls were queued. */
async function feedFromTables(
  dependencies: RunDependencies,
  client: ClientBase,
  run: ScoreRun,
): Promise<number> {
  const project = run.cursor_project ?? (await nextProject(client, run, null))
  const calls = project === undefined ? [] : await nextCalls(client, run, project, page)
  const last = calls.at(-1)
  if (last !== undefined) {
    const jobs = await loadJobs(client, calls, dependencies.clock.now())
    const { count, ...problem } = await queueJobs(dependencies, run, jobs)
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
  await advanceProject(client, run, project, { going: { status: 'feeding' }, done: { status: 'scoring' } })
  return 0
}

async function feedFromTopic(
  dependencies: RunDependencies,
  client: ClientBase,
  run: ScoreRun,
): Promise<number> {
  const { jobs: read, offsets, isEnd, lost } = await dependencies.readHistory(run, page)
  // Erased calls stay on the topic for days: a judge must not see them again.
  const stored = await storedCalls(client, read)
  // Deleted when found: a call that its client sent twice, as a rule in a row, is scored and counted once.
  const jobs = read.filter(({ project_id, request_id }) => stored.delete(`${project_id}/${request_id}`))
  const current = lost === 0 ? run : { ...run, ...joinProblems(run, `the topic has lost ${lost} records`) }
  const { count, problem = current.problem } = await queueJobs(dependencies, current, jobs)
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
