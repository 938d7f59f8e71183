import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import { TransientError } from '#runtime/errors.ts'
import type { ConsumedRecord, RecordHandler } from '#runtime/kafka/records.ts'
import { drop, ok, type Outcome } from '#runtime/outcome.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { TraceContext } from '#runtime/tracing/tracing.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { ScoredCall } from '#schemas/safety-score-recorded.ts'
import type { CallBudget } from './call-budget.ts'
import { isSecondTry, type JobQueues, type QueueName } from './job-queues.ts'
import type { JobsUnderWay } from './jobs-under-way.ts'
import { isOwnCall } from './judge/own-calls.ts'
import type { Permits } from './judge/permits.ts'
import type { Waiter } from './judge/wait-queue.ts'
import { labelOfScorer, type ScorerMetrics } from './scorer-metrics.ts'
import type { Call } from '#detectors/call-text.ts'
import type { ScorersOfTier } from './scoring/parse-tiers.ts'
import { checkIdentity } from './steps/check-identity.ts'
import { chooseScorers } from './steps/choose-scorers.ts'
import { makeScoredCall } from './steps/make-scored-call.ts'
import type { NamedVerdict } from '#detectors/verdict.ts'
import { minCharsOf, openCall } from './steps/open-call.ts'
import { isDefect, leaveUnscored } from './steps/run-detectors.ts'
import { runScorers, type ScoringTools } from './steps/run-scorers.ts'
import type { CustomScorerStore } from './stores/custom-scorer-store.ts'
import type { IsErased } from './stores/erased-calls.ts'
import type { ProjectSettingsStore } from './stores/project-settings-store.ts'
import type { ValueKeys } from './stores/value-keys.ts'

export interface ScoreHandlerDependencies extends ScoringTools {
  sealer: Sealer
  tiers: ScorersOfTier
  custom: Pick<CustomScorerStore, 'current'>
  settings: ProjectSettingsStore
  isErased: IsErased
  valueKeys: ValueKeys
  jobs: JobsUnderWay
  /** Permits for concurrent jobs: live before replay, then projects with the fewest running jobs. */
  jobPermits: Permits
  /** Permits for large calls, separate so that they take none from small ones. */
  largeJobPermits: Permits
  /** Memory budget for large calls being read. */
  memoryBudget: CallBudget
  queues: JobQueues
  /** Total UTF-16 units of both bodies above which a call is large. */
  inlineMaxChars: number
  /** Delay before a call that was too slow for the detectors is retried. */
  retryAfterMs: number
  /** Aborts on shutdown: jobs waiting for a permit stop waiting. */
  stopping: AbortSignal
  markKey: string | null
  log: Log
  /** Resolves once Kafka has acknowledged the scores. */
  publish: (scored: ScoredCall, trace?: TraceContext) => Promise<void>
  metrics: ScorerMetrics
  clock: Clock
}

/** Scores one job as one record with a score per scorer. Its offset is committed once Kafka has that. */
export function createScoreHandler(
  queue: QueueName,
  dependencies: ScoreHandlerDependencies,
): RecordHandler<ScoreJob> {
  const { jobs, stopping, clock, retryAfterMs } = dependencies
  const untilRetryMs = ({ timestampMs }: ConsumedRecord<ScoreJob>) =>
    Math.max(0, retryAfterMs - Math.max(0, clock.now() - timestampMs))
  const jobPermits = queue === 'large' ? dependencies.largeJobPermits : dependencies.jobPermits
  return async (record, signal) => {
    const { value: job } = record
    // Replays and large calls may wait long by design, so their age says nothing about lag.
    const finished = queue === 'live' ? jobs.begin(job.queued_at) : () => undefined
    try {
      const waiting = AbortSignal.any([signal, stopping])
      if (isSecondTry(record)) await clock.sleep(untilRetryMs(record), waiting)
      const score = () => scoreJob(record, queue, dependencies, { signal, waiting })
      return await jobPermits.run(score, waiting, whoseIs(job, queue))
    } catch (error) {
      // An error caused by shutdown is not the job's fault: another process scores it.
      if (signal.aborted || (stopping.aborted && error === stopping.reason))
        throw new TransientError('SCORER_STOPPING', 'scoring was interrupted', { cause: error })
      throw error
    } finally {
      finished()
    }
  }
}

function whoseIs({ project_id: projectId }: ScoreJob, queue: QueueName): Waiter {
  return { lane: queue === 'replay' ? 'replay' : 'live', projectId }
}

async function scoreJob(
  record: ConsumedRecord<ScoreJob>,
  queue: QueueName,
  dependencies: ScoreHandlerDependencies,
  { signal, waiting }: { signal: AbortSignal; waiting: AbortSignal },
): Promise<Outcome> {
  const { sealer, tiers, custom, settings, isErased, markKey, log, publish, metrics, clock } = dependencies
  const { queues, inlineMaxChars, memoryBudget, valueKeys } = dependencies
  const job = record.value
  const trace = record.span?.context
  record.span?.set({ 'sluice.request_id': job.request_id, 'sluice.project_id': job.project_id })
  checkIdentity(job)
  const own = await settings.of(job.project_id)
  const { judgeMode, failAt } = own
  if (own.hasErasures && (await isErased(job))) return drop('erased')
  const chosen = chooseScorers(job, tiers, custom.current(), own)
  const finish = async (call: Call | null, verdicts: readonly NamedVerdict[]): Promise<Outcome> => {
    if (verdicts.length === 0) return drop('no_scorer')
    const valueKey = hasValues(job, verdicts) ? await valueKeys.of(job.project_id) : null
    await publish(makeScoredCall(job, call, verdicts, { sealer, valueKey }, clock.now()), trace)
    record.span?.set({ 'sluice.scores': verdicts.length })
    count(verdicts, metrics)
    return ok()
  }
  const handOver = async () => {
    await queues.handOver(job, trace)
    metrics.requeuedJobs.inc({ reason: 'large' })
    return ok()
  }
  const isLive = queue === 'live'
  if (isLive && minCharsOf(job, sealer) > inlineMaxChars) return handOver()
  const opened = openCall(job, sealer, memoryBudget.smallBytes)
  if ('unreadable' in opened) return finish(null, leaveUnscored(chosen, opened.unreadable))
  if (isLive && (opened.chars > inlineMaxChars || opened.heapBytes >= memoryBudget.smallBytes))
    return handOver()
  const terms = { ...whoseIs(job, queue), judgeMode, failAt, mayTryLater: !isSecondTry(record) }
  const score = async () => {
    const call = readOrReport(opened, log)
    if (call === undefined) return finish(null, leaveUnscored(chosen, 'detector_failed'))
    if (isOwnCall(job.metadata, call.request?.value, markKey)) return drop('judge_call')
    const verdicts = await runScorers(chosen, call, terms, dependencies, signal)
    if (verdicts !== 'try_later') return finish(call, verdicts)
    await queues.tryLater(job, queue, trace)
    metrics.requeuedJobs.inc({ reason: 'too_slow' })
    return ok()
  }
  return memoryBudget.run(opened.heapBytes, score, waiting, terms)
}

/** Whether something was found that is hashed: never where the project keeps no content. */
function hasValues(
  { zero_content_retention: keepsNoContent }: ScoreJob,
  verdicts: readonly NamedVerdict[],
): boolean {
  return !keepsNoContent && verdicts.some(({ verdict }) => verdict.label === 'unsafe')
}

/** Undefined if a call's shape makes reading throw: rethrowing would crash the process on each redelivery. */
function readOrReport({ read }: { read: () => Call }, log: Log): Call | undefined {
  try {
    return read()
  } catch (error) {
    if (!isDefect(error)) throw error
    log.error({ err: error }, 'call could not be read')
    return undefined
  }
}

function count(verdicts: readonly NamedVerdict[], metrics: ScorerMetrics): void {
  for (const named of verdicts) {
    const { verdict } = named
    const scorer = labelOfScorer(named)
    metrics.scores.inc({ scorer, label: verdict.label, method: verdict.method })
    if (verdict.judge?.failed !== undefined)
      metrics.judgeFailures.inc({ scorer, reason: verdict.judge.failed })
    if (verdict.reason !== null) metrics.unscored.inc({ scorer, reason: verdict.reason })
  }
}
