import { isDeepStrictEqual } from 'node:util'
import type { ClientBase, Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { idFromUuid } from '#schemas/ids.ts'
import type { QueueEnds } from '../upkeep/follow-queues.ts'
import {
  changeRun,
  countScored,
  joinProblems,
  lockRun,
  readScoring,
  type ScoreRun,
} from '../stores/run-store.ts'

export interface SettleDependencies {
  pool: Pool
  /** How far the queues have to come until what stood in the first of them, when this was asked with null, is stored (follow-queues.ts). Undefined: they have. */
  findAwaited: (awaited: QueueEnds | null) => Promise<QueueEnds | undefined>
  clock: Clock
  log: Log
}

/**
 * Counts what a run has scored; it is done when that is all, or when no more can come: some calls have no scores (sampled out, dead letters). The
 * latter is known once the queues have passed where they ended when its last jobs stood in Kafka, which its status says (it is committed behind them), and
 * where the scores ended when those jobs were done. The ends are kept in the run's row, so that any sink goes on with them; asking whether there
 * is nothing in the queues instead would have it wait for as long as anything flows. By no clock. Its row is locked once that is known, and only then: a
 * Kafka that does not answer keeps nobody from it. What others have found out or decided meanwhile stands.
 */
export async function settleRun(dependencies: SettleDependencies, id: string): Promise<boolean> {
  const { pool } = dependencies
  const run = await readScoring(pool, id)
  if (run === undefined) return false
  const found = await lookForScores(dependencies, run)
  return inTransaction(pool, async (client) => {
    const locked = await lockRun(client, ['scoring'], id)
    if (locked === undefined || !hasStayed(run, locked)) return false
    if (found.awaited === undefined) return end(dependencies, client, locked, found.scored)
    await noteProgress(client, locked, found.scored, found.awaited)
    return false
  })
}

function hasStayed(asked: ScoreRun, locked: ScoreRun): boolean {
  return asked.calls_scored === locked.calls_scored && isDeepStrictEqual(asked.awaited, locked.awaited)
}

/** `awaited` undefined: no more will come. */
async function lookForScores(
  { pool, findAwaited }: SettleDependencies,
  run: ScoreRun,
): Promise<{ scored: number; awaited?: QueueEnds | undefined }> {
  const scored = await countScored(pool, run)
  if (scored >= Number(run.calls_fed)) return { scored }
  const awaited = await findAwaited(run.awaited)
  // Once more: the last may have been stored since.
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
          `${missing} jobs brought no score: of calls that are sampled out, dead letters, or that stand on the topic more than once`,
        )
      : {}
  await changeRun(client, run.id, {
    status: 'done',
    calls_scored: scored,
    awaited: null,
    finished_at: new Date(clock.now()),
    ...problem,
  })
  log.info({ run_id: idFromUuid('run', run.id), calls: scored, missing }, 'a replay is done')
  return true
}

/** Writes down what is new. */
async function noteProgress(
  client: ClientBase,
  run: ScoreRun,
  scored: number,
  awaited: QueueEnds,
): Promise<void> {
  // Of one topic they stay what they were.
  const isNext = awaited.topic !== run.awaited?.topic
  if (!isNext && scored === Number(run.calls_scored)) return
  await changeRun(client, run.id, { calls_scored: scored, ...(isNext ? { awaited } : {}) })
}
