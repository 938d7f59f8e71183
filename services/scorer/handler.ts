import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import { TransientError } from '#runtime/errors.ts'
import type { RecordHandler } from '#runtime/kafka/records.ts'
import { drop, ok, type Outcome } from '#runtime/outcome.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { ScoredCall } from '#schemas/safety-score-recorded.ts'
import type { CallRoom } from './call-room.ts'
import type { JobsUnderWay } from './jobs-under-way.ts'
import { isOwnCall } from './judge/own-calls.ts'
import type { Permits } from './judge/permits.ts'
import type { Lane } from './judge/waiting-lines.ts'
import type { ScorerMetrics } from './scorer-metrics.ts'
import type { Call } from './scoring/call-text.ts'
import type { ScorersOfTier } from './scoring/parse-tiers.ts'
import { checkIdentity } from './steps/check-identity.ts'
import { chooseScorers } from './steps/choose-scorers.ts'
import { makeScoredCall } from './steps/make-scored-call.ts'
import type { NamedVerdict } from './steps/named-verdict.ts'
import { openCall } from './steps/open-call.ts'
import { isDefect, leaveUnscored } from './steps/run-detectors.ts'
import { runScorers, type ScoringTools } from './steps/run-scorers.ts'
import type { CustomScorerStore } from './stores/custom-scorer-store.ts'
import type { IsErased } from './stores/erased-calls.ts'
import type { ProjectSettingsStore } from './stores/project-settings-store.ts'

export interface ScoreHandlerDependencies extends ScoringTools {
  sealer: Sealer
  tiers: ScorersOfTier
  custom: Pick<CustomScorerStore, 'current'>
  settings: ProjectSettingsStore
  isErased: IsErased
  jobs: JobsUnderWay
  /** Room for jobs at once, live ones first, and those of projects that have fewest. */
  turns: Permits
  /** Room for large calls that are read. */
  room: CallRoom
  /** Aborts when the scorer stops: who waits for a turn then need not wait. */
  stopping: AbortSignal
  markKey: string | null
  log: Log
  /** Resolves when Kafka has the scores. */
  publish: (scored: ScoredCall) => Promise<void>
  metrics: ScorerMetrics
  clock: Clock
}

/** Scores one job: one score for each scorer that the call is owed, in one record. The offset moves when Kafka has it. */
export function createScoreHandler(
  lane: Lane,
  dependencies: ScoreHandlerDependencies,
): RecordHandler<ScoreJob> {
  const { jobs, turns, stopping } = dependencies
  return async ({ value: job }, signal) => {
    // Replays look at history: their age says nothing about how late scores are.
    const finished = lane === 'live' ? jobs.begin(job.queued_at) : () => undefined
    try {
      const waiting = AbortSignal.any([signal, stopping])
      const score = () => scoreJob(job, lane, dependencies, { signal, waiting })
      return await turns.run(score, waiting, { lane, projectId: job.project_id })
    } catch (error) {
      // Whatever was thrown because we stop is no fault of the job: another process scores it.
      if (signal.aborted || (stopping.aborted && error === stopping.reason))
        throw new TransientError('SCORER_STOPPING', 'scoring was interrupted', { cause: error })
      throw error
    } finally {
      finished()
    }
  }
}

async function scoreJob(
  job: ScoreJob,
  lane: Lane,
  dependencies: ScoreHandlerDependencies,
  { signal, waiting }: { signal: AbortSignal; waiting: AbortSignal },
): Promise<Outcome> {
  const { sealer, tiers, custom, settings, isErased, room, markKey, log, publish, metrics, clock } =
    dependencies
  checkIdentity(job)
  const { judgeMode, sampling, hasErasures } = await settings.of(job.project_id)
  if (hasErasures && (await isErased(job))) return drop('erased')
  const chosen = chooseScorers(job, tiers, custom.current(), sampling)
  const finish = async (call: Call | null, verdicts: readonly NamedVerdict[]): Promise<Outcome> => {
    if (verdicts.length === 0) return drop('no_scorer')
    await publish(makeScoredCall(job, call, verdicts, sealer, clock.now()))
    count(verdicts, metrics)
    return ok()
  }
  const opened = openCall(job, sealer, room.smallBytes)
  if ('unreadable' in opened) return finish(null, leaveUnscored(chosen, opened.unreadable))
  const terms = { projectId: job.project_id, judgeMode, lane }
  const score = async () => {
    const call = readOrReport(opened, log)
    if (call === undefined) return finish(null, leaveUnscored(chosen, 'detector_failed'))
    if (isOwnCall(job.metadata, call.request?.value, markKey)) return drop('judge_call')
    return finish(call, await runScorers(chosen, call, terms, dependencies, signal))
  }
  return room.run(opened.heapBytes, score, waiting, terms)
}

/** Undefined: its shape is one that we fail on. What ends here would end the process with each try, and all calls in it. */
function readOrReport({ read }: { read: () => Call }, log: Log): Call | undefined {
  try {
    return read()
  } catch (error) {
    if (!isDefect(error)) throw error
    log.error({ err: error }, 'a call could not be read')
    return undefined
  }
}

function count(verdicts: readonly NamedVerdict[], metrics: ScorerMetrics): void {
  for (const { scorer, verdict } of verdicts) {
    metrics.scores.inc({ scorer, label: verdict.label, method: verdict.method })
    if (verdict.reason !== null) metrics.unscored.inc({ scorer, reason: verdict.reason })
  }
}
