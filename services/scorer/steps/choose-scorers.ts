import { PermanentError } from '#runtime/errors.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { tierSchema } from '#schemas/tiers.ts'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import type { CustomScorer } from '../scoring/custom/custom-scorer.ts'
import { isSampled } from '../scoring/is-sampled.ts'
import type { ScorersOfTier } from '../scoring/parse-tiers.ts'

export interface ChosenScorers {
  builtIn: readonly BuiltInScorer[]
  custom: readonly CustomScorer[]
  /** Unsafe thresholds of the rubrics. Absent: the default. */
  failAt?: FailAt | undefined
}

export type FailAt = Readonly<Partial<Record<BuiltInScorer, number>>>

/**
 * Scorers of the job's tier plus the project's custom ones, limited to those that the job names, without
 * those that sampling skips for this request. Throws PermanentError `UNKNOWN_TIER`.
 */
export function chooseScorers(
  job: ScoreJob,
  ofTier: ScorersOfTier,
  custom: readonly CustomScorer[],
  sampling: Readonly<Record<string, number>> = {},
): ChosenScorers {
  const tier = tierSchema.safeParse(job.tier)
  if (!tier.success)
    throw new PermanentError('UNKNOWN_TIER', `the tier "${job.tier.slice(0, 40)}" is not known`)
  const named = job.scorers === null ? null : new Set(job.scorers)
  const isIn = (name: string) =>
    !Object.hasOwn(sampling, name) || isSampled(job.request_id, sampling[name] ?? 1)
  const isWanted = (name: string) => (named === null || named.has(name)) && isIn(name)
  return {
    builtIn: ofTier[tier.data].filter(isWanted),
    custom: custom.filter(
      ({ name, projects }) => isWanted(name) && (projects === null || projects.has(job.project_id)),
    ),
  }
}
