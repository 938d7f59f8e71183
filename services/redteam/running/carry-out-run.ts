import type { Pool } from 'pg'
import type { PriceTable } from '#capture/price-table.ts'
import type { Clock } from '#runtime/clock.ts'
import { messageOf, PermanentError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { AdaptiveAttacker } from '../attacks/adaptive-attacker.ts'
import type { RecordedRun } from '../interchange/open-recorded.ts'
import type { ProbeSet } from '../probes/read-probes.ts'
import { planAttempts, type PlannedAttempt } from '../steps/plan-attempts.ts'
import { createAttemptStore, type AttemptStore } from '../stores/attempt-store.ts'
import type { LogRecords } from '../stores/ingest-client.ts'
import type { RedteamRun, RunStore } from '../stores/run-store.ts'
import { createScoreReader } from '../stores/score-reader.ts'
import type { Target } from '../targets/target.ts'
import { createBudget } from './budget.ts'
import { createTargetCheck, NobodyThere } from './check-target.ts'
import { judgeAttempts } from './judge-attempts.ts'
import { createPace } from './pace.ts'
import { runTooOld, sendAttempts, type AttackOutcome } from './send-attempts.ts'

export interface CarryDependencies {
  pool: Pool
  runs: RunStore
  sealer: Sealer
  log: Log
  clock: Clock
  prices: PriceTable
  logRecords: LogRecords
  /** Throws PermanentError for an invalid file of probes. */
  readProbes: () => ProbeSet
  /** Throws PermanentError when the target may not be attacked. */
  openTarget: (run: RedteamRun) => Target
  /** Another tool's report instead of a target. */
  openRecorded: (runId: string, format: 'garak' | 'promptfoo') => RecordedRun
  openAttacker: () => AdaptiveAttacker | undefined
  dashboardUrl: string
  pollIntervalMs: number
  scoreWaitMs: number
  leaseMs: number
  onMade: (outcome: AttackOutcome) => void
}

const patience = { maxUnreached: 8, maxTurnedAway: 20 }

/** A resumed command-line run was given other means than at its beginning. With the right ones it goes on. */
class CannotGoOn extends PermanentError {}

/**
 * Plans a run, sends its attempts, waits for their scores and ends it. After a crash the next process
 * continues from the attempts: each is sent at most once. Resolves when the run is over, or when `stopping`
 * aborts and another process may take it. Rejects with PermanentError when this process lacks what it needs;
 * the run stays open.
 */
export async function carryOutRun(
  run: RedteamRun,
  dependencies: CarryDependencies,
  stopping: AbortSignal,
): Promise<void> {
  const { runs, log } = dependencies
  const over = new AbortController()
  const signal = AbortSignal.any([stopping, over.signal])
  const keeping = keepLease(run, dependencies, signal, () => over.abort())
  try {
    await carryThrough(run, dependencies, signal)
  } catch (error) {
    if (!(error instanceof PermanentError) && !(error instanceof NobodyThere)) throw error
    const { message: problem } = error
    if (error instanceof CannotGoOn) {
      await runs.noteProblem(run.id, problem)
      throw error
    }
    log.error({ run_id: run.id, problem }, 'a run failed')
    await runs.fail(run.id, problem)
  } finally {
    over.abort()
    await keeping
    await runs.release(run.id)
  }
}

async function carryThrough(
  run: RedteamRun,
  dependencies: CarryDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { pool, runs, sealer, clock, pollIntervalMs, scoreWaitMs } = dependencies
  const attempts = createAttemptStore(pool, run)
  // Before sending: attempts in `sending` were begun by a process that is gone.
  await attempts.settleBegun()
  const readScores = createScoreReader(pool, sealer, run.projectId)
  let isSending = run.status !== 'scoring'
  const judging = judgeAttempts(
    { attempts, readScores, clock, pollIntervalMs, scoreWaitMs, signal },
    () => isSending,
  )
  judging.catch(() => undefined)
  if (isSending) {
    const stoppedBy = await send(run, attempts, dependencies, signal)
    if (signal.aborted) return judging
    await attempts.skipPlanned()
    if (!(await runs.startScoring(run.id, stoppedBy))) return
    isSending = false
  }
  await judging
  if (!signal.aborted) await runs.finish(run, dependencies.dashboardUrl)
}

async function send(
  run: RedteamRun,
  attempts: AttemptStore,
  dependencies: CarryDependencies,
  signal: AbortSignal,
): Promise<'budget' | 'no_price' | undefined> {
  const { runs, clock, prices, logRecords, onMade } = dependencies
  const { target, ...means } = gatherMeans(run, dependencies)
  const pace = createPace(clock, run.options.requests_per_minute)
  const checkTarget =
    means.recorded === undefined
      ? createTargetCheck({ ...{ runId: run.id, target, pace, clock, signal }, ...patience })
      : undefined
  try {
    const tooOld = runTooOld(run.id, clock)
    if (tooOld !== undefined) throw tooOld
    const planned = run.probesDigest === null ? planOf(run, means, target) : undefined
    await checkTarget?.().catch((error: unknown) => throwAsResumed(run, error))
    // Written before it is noted. A process that dies between the two leaves a plan that is written again,
    // the same.
    if (planned !== undefined) {
      await attempts.plan(planned, means.recorded?.origins)
      await runs.notePlan(run.id, means.digest, planned.length)
    }
    const budget = createBudget(run.budgetUsd, await attempts.spent())
    await sendAttempts({
      ...{ run, attempts, target, prices, budget, clock, signal, onMade, pace, checkTarget, ...patience },
      ...{ probes: means.probes, attacker: means.attacker },
      seed: run.seed,
      log: logRecords,
    })
    return budget.stoppedBy()
  } finally {
    await target.close()
  }
}

/** The run's target and probes. Throws PermanentError when one is missing or differs from the plan. */
function gatherMeans(run: RedteamRun, dependencies: CarryDependencies) {
  try {
    const attacker = dependencies.openAttacker()
    if (run.options.transformations.includes('adaptive') && attacker === undefined)
      throw new PermanentError('NO_ATTACKER', 'the transformation adaptive needs REDTEAM_ATTACKER_URL')
    const recorded =
      run.target.kind === 'recorded' ? dependencies.openRecorded(run.id, run.target.format) : undefined
    const { probes, digest } = recorded ?? dependencies.readProbes()
    if (run.probesDigest !== null && run.probesDigest !== digest)
      throw new PermanentError(
        'PROBES_CHANGED',
        'the probes, or the report, are not those that the run was planned with: name the same again, or start another run',
      )
    return { attacker, recorded, probes, digest, target: recorded?.target ?? dependencies.openTarget(run) }
  } catch (error) {
    return throwAsResumed(run, error)
  }
}

/** A command-line run that has begun stays open: it can be resumed, for instance with the target's key. */
function throwAsResumed(run: RedteamRun, error: unknown): never {
  const isResumed = run.runner === 'cli' && run.probesDigest !== null
  if (isResumed && error instanceof PermanentError)
    throw new CannotGoOn(error.code, error.message, { cause: error })
  if (isResumed && error instanceof NobodyThere)
    throw new CannotGoOn('TARGET_REFUSES', error.message, { cause: error })
  throw error
}

function planOf(
  run: RedteamRun,
  { recorded, probes }: Pick<ReturnType<typeof gatherMeans>, 'recorded' | 'probes'>,
  target: Target,
): PlannedAttempt[] {
  if (recorded !== undefined) return recorded.planned.slice(0, run.options.limit)
  const { probes: select, transformations, repeats, limit } = run.options
  // A target that takes only words cannot be given a probe's context.
  const usable = [...probes.values()].filter(
    ({ context, tools }) => target.takesSurroundings || (context === undefined && tools === undefined),
  )
  const order = { runId: run.id, seed: run.seed, select, transformations, repeats, limit }
  const planned = planAttempts(order, usable)
  if (planned.length === 0)
    throw new PermanentError('NOTHING_TO_SEND', 'no probe is chosen that this target can be given')
  return planned
}

/**
 * Lets go of a run that was cancelled, or that another process took because this one was silent for too long.
 */
async function keepLease(
  run: RedteamRun,
  { runs, clock, log, leaseMs }: CarryDependencies,
  signal: AbortSignal,
  onOver: () => void,
): Promise<void> {
  const isOver = () => signal.aborted
  for (;;) {
    await clock.sleep(leaseMs / 4, signal)
    if (isOver()) return
    try {
      const status = await runs.renew(run.id)
      if (status !== 'running' && status !== 'scoring') onOver()
    } catch (error) {
      // The next renewal may succeed; an expired lease hands the run on.
      log.warn({ run_id: run.id, problem: messageOf(error) }, 'the lease of a run could not be renewed')
    }
  }
}
