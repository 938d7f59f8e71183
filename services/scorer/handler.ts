import type { Clock } from '#runtime/clock.ts'
import { TransientError } from '#runtime/errors.ts'
import type { RecordHandler } from '#runtime/kafka/records.ts'
import { drop, ok } from '#runtime/outcome.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { ScoredCall } from '#schemas/safety-score-recorded.ts'
import type { JobsUnderWay } from './jobs-under-way.ts'
import { isOwnCall } from './judge/own-calls.ts'
import type { ScorersOfTier } from './scoring/parse-tiers.ts'
import { checkIdentity } from './steps/check-identity.ts'
import { chooseScorers } from './steps/choose-scorers.ts'
import { makeScoredCall } from './steps/make-scored-call.ts'
import { openCall } from './steps/open-call.ts'
import { runScorers, type NamedVerdict, type ScoringTools } from './steps/run-scorers.ts'
import type { CustomScorerStore } from './stores/custom-scorer-store.ts'

export interface ScoreHandlerDependencies extends ScoringTools {
  sealer: Sealer
  tiers: ScorersOfTier
  custom: Pick<CustomScorerStore, 'current'>
  jobs: JobsUnderWay
  markKey: string | null
  /** Resolves when Kafka has the scores. */
  publish: (scored: ScoredCall) => Promise<void>
  clock: Clock
}

/** Scores one job: one score for each scorer that the call is owed, in one record. The offset moves when Kafka has it. */
export function createScoreHandler(dependencies: ScoreHandlerDependencies): RecordHandler<ScoreJob> {
  const { sealer, tiers, custom, jobs, markKey, publish, clock } = dependencies
  return async ({ value: job }, signal) => {
    const finished = jobs.begin(job.queued_at)
    try {
      checkIdentity(job)
      const call = openCall(job, sealer)
      if (isOwnCall(job.metadata, call?.request?.value, markKey)) return drop('judge_call')
      const scorers = chooseScorers(job, tiers, custom.current())
      const verdicts = await runScorers(scorers, call, dependencies, signal)
      if (verdicts.length === 0) return drop('no_scorer')
      await publish(makeScoredCall(job, call, verdicts, sealer, clock.now()))
      count(verdicts, dependencies)
      return ok()
    } catch (error) {
      // Whatever was thrown because we stop is no fault of the job: another process scores it.
      if (signal.aborted)
        throw new TransientError('SCORER_STOPPING', 'scoring was interrupted', { cause: error })
      throw error
    } finally {
      finished()
    }
  }
}

function count(verdicts: readonly NamedVerdict[], { metrics }: ScoringTools): void {
  for (const { scorer, verdict } of verdicts) {
    metrics.scores.inc({ scorer, label: verdict.label, method: verdict.method })
    if (verdict.reason !== null) metrics.unscored.inc({ scorer, reason: verdict.reason })
  }
}
