import { createHash } from 'node:crypto'
import { PermanentError } from '#runtime/errors.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { tierSchema } from '#schemas/tiers.ts'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import type { CustomScorer } from '../scoring/custom/custom-scorer.ts'
import type { BrokenScorer, ProjectScorers } from '../scoring/custom/project-scorers.ts'
import type { Criterion } from '../scoring/judge/criterion.ts'
import type { ScorersOfTier } from '../scoring/parse-tiers.ts'

export interface ChosenScorers {
  builtIn: readonly BuiltInScorer[]
  custom: readonly CustomScorer[]
  /** Unsafe thresholds of the rubrics. Absent: the default. */
  failAt?: FailAt | undefined
  /** Scorers in words that the project made. */
  criteria?: readonly Criterion[]
  /** Scorers that the project made and that cannot be read. */
  broken?: readonly BrokenScorer[]
}

export type FailAt = Readonly<Partial<Record<BuiltInScorer, number>>>

/** What a project says about its scorers. */
export interface ScorerChoice {
  sampling?: Readonly<Record<string, number>>
  /** Switched off. */
  off?: ReadonlySet<string>
  scorers?: ProjectScorers
}

/**
 * Scorers of the job's tier plus the project's custom ones, limited to those that the job names, without
 * those that are off or that sampling skips for this request. Where a name is in the file too, the file's
 * scorer runs. Throws PermanentError `UNKNOWN_TIER`.
 */
export function chooseScorers(
  job: ScoreJob,
  ofTier: ScorersOfTier,
  custom: readonly CustomScorer[],
  { sampling = {}, off, scorers }: ScorerChoice = {},
): ChosenScorers {
  const tier = tierSchema.safeParse(job.tier)
  if (!tier.success) throw new PermanentError('UNKNOWN_TIER', `unknown tier "${job.tier.slice(0, 40)}"`)
  const named = job.scorers === null ? null : new Set(job.scorers)
  const isIn = (name: string) =>
    !Object.hasOwn(sampling, name) || isSampled(job.request_id, sampling[name] ?? 1)
  const isWanted = (name: string) =>
    (named === null || named.has(name)) && off?.has(name) !== true && isIn(name)
  const ofFile = custom.filter(({ projects }) => projects === null || projects.has(job.project_id))
  const taken = new Set([...builtInScorers, ...ofFile.map(({ name }) => name)])
  const isOwn = ({ name }: { name: string }) => !taken.has(name) && isWanted(name)
  return {
    builtIn: ofTier[tier.data].filter(isWanted),
    custom: [...ofFile.filter(({ name }) => isWanted(name)), ...(scorers?.custom.filter(isOwn) ?? [])],
    criteria: scorers?.criteria.filter(isOwn) ?? [],
    broken: scorers?.broken.filter(isOwn) ?? [],
  }
}

/**
 * True if the request is in the share that a scorer scores. By a hash of the request id alone: replays pick
 * the same requests, and so do scorers with the same share, whose rubrics then go to the judge together.
 */
export function isSampled(requestId: string, share: number): boolean {
  const place = createHash('sha256').update(requestId).digest().readUIntBE(0, 6)
  return place < share * 2 ** 48
}
