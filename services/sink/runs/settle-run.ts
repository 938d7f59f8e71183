import { isDeepStrictEqual } from 'node:util'
import type { ClientBase } from 'pg'
import { inTransaction } from '#runtime/postgres.ts'
import { idFromUuid } from '#schemas/ids.ts'
import type { QueueEnds } from '../upkeep/follow-queues.ts'
import type { JobContext } from '../upkeep/upkeep-job.ts'
import {
  changeRun,
  countScored,
  joinProblems,
  lockRun,
  readScoring,
  type ScoreRun,
} from '../stores/run-store.ts'

export interface SettleDependencies extends Pick<JobContext, 'pool' | 'clock' | 'log'> {
  /** Follows the run's jobs through the queues (`passQueues`). Undefined: none is left in them. */
  findAwaited: (awaited: QueueEnds | null) => Promise<QueueEnds | undefined>
}

/**
 * Counts what a run has scored. The run is done when every call is scored, or when no more scores can come:
 * sampled-out calls and dead letters have none. That is known once the queues have passed the ends that they
 * had when the run's last job was published; waiting for empty queues would take as long as anything flows.
 * The ends are kept in the run's row, so any sink can go on. The row is locked only afterwards: a Kafka that
 * does not answer must not block others. What another sink has written meanwhile stands.
 */
export async function settleRun(dependencies: SettleDependencies, id: string): Promise<boolean> {
  const { pool } = dependencies
  const run = await readScoring(pool, id)
  if (run === undefined) return false
  const found = await lookForScores(dependencies, run)
  return inTransaction(pool, async (client) => {
    const locked = await lockRun(client, ['scoring'], id)
    if (locked === undefined || !isUnchanged(run, locked)) return false
    if (found.awaited === undefined) return end(dependencies, client, locked, found.scored)
    await noteProgress(client, locked, found.scored, found.awaited)
    return false
  })
}

function isUnchanged(read: ScoreRun, locked: ScoreRun): boolean {
  return read.calls_scored === locked.calls_scored && isDeepStrictEqual(read.awaited, locked.awaited)
}

/** `awaited` undefined: no more will come. */
async function lookForScores(
  { pool, findAwaited }: SettleDependencies,
  run: ScoreRun,
): Promise<{ scored: number; awaited?: QueueEnds | undefined }> {
  const scored = await countScored(pool, run)
  if (scored >= Number(run.calls_fed)) return { scored }
  const awaited = await findAwaited(run.awaited)
  // Counted again: the last may have been stored since.
  return awaited === undefined ? { scored: await countScored(pool, run) } : { scored, awaited }
}

async function end(
  { clock, log }: SettleDependencies,
  client: ClientBase,
  run: ScoreRun,
  scored: number,
): Promise<boolean> {
  const missing = Number(run.calls_fed) - scored
  const problem =
    missing > 0
      ? joinProblems(
          run,
          `${missing} jobs brought no score: calls sampled out, dead letters, or on the topic more than once`,
        )
      : {}
  await changeRun(client, run.id, {
    status: 'done',
    calls_scored: scored,
    awaited: null,
    finished_at: new Date(clock.now()),
    ...problem,
  })
  log.info({ run_id: idFromUuid('run', run.id), calls: scored, missing }, 'replay done')
  return true
}

/** Writes a changed count, and the ends of another queue. */
async function noteProgress(
  client: ClientBase,
  run: ScoreRun,
  scored: number,
  awaited: QueueEnds,
): Promise<void> {
  // The ends of one topic do not move.
  const isNext = awaited.topic !== run.awaited?.topic
  if (!isNext && scored === Number(run.calls_scored)) return
  await changeRun(client, run.id, { calls_scored: scored, ...(isNext ? { awaited } : {}) })
}
