import type { Counter, Gauge, Histogram } from 'prom-client'
import type { Metrics } from '#runtime/metrics.ts'
import { projectScorerLabel } from '#schemas/project-scorer.ts'
import type { NamedVerdict } from '#detectors/verdict.ts'
import type { OnWaiting } from './judge/permits.ts'
import { lanes } from './judge/wait-queue.ts'

export interface ScorerMetrics {
  scores: Counter<'scorer' | 'label' | 'method'>
  unscored: Counter<'scorer' | 'reason'>
  detectorSeconds: Histogram<'scorer'>
  judgeSeconds: Histogram
  judgeCalls: Counter<'outcome'>
  judgeTokens: Counter<'kind'>
  judgeUsd: Counter<'scorer'>
  judgeFailures: Counter<'scorer' | 'reason'>
  oldestJobAgeSeconds: Gauge
  replayPaused: Gauge
  detectorThreads: Counter<'outcome'>
  largeCallBytes: Gauge
  requeuedJobs: Counter<'reason'>
  unhashedValues: Counter
  waitingJobs: Gauge<'what' | 'lane'>
  customScorers: Gauge
  customReloads: Counter<'outcome'>
  customRefused: Gauge
  previews: Counter<'outcome'>
}

/** The label of a scorer: one for all that projects made, whose names they choose. */
export function labelOfScorer({ scorer, isOfProject }: Omit<NamedVerdict, 'verdict'>): string {
  return isOfProject === true ? projectScorerLabel : scorer
}

/** What a job waits for, in order. */
const waitedFor = ['turn', 'large_turn', 'room', 'thread', 'judge_slot', 'judge_rate', 'judge'] as const

/** Outcomes of a request to the judge. */
const judgeOutcomes = [
  'judged',
  'judge_unavailable',
  'judge_answer_invalid',
  'judge_refused',
  'budget_spent',
  'no_price',
]

export function createScorerMetrics(metrics: Metrics): ScorerMetrics {
  const customReloads = metrics.counter(
    'sluice_custom_scorer_reloads_total',
    'Changes of the custom scorers file seen.',
    ['outcome'],
  )
  customReloads.inc({ outcome: 'refused' }, 0)
  const detectorBuckets = [0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]
  return {
    scores: metrics.counter('sluice_scores_total', 'Scores published.', ['scorer', 'label', 'method']),
    unscored: metrics.counter('sluice_scores_unscored_total', 'Scores without a value, by why.', [
      'scorer',
      'reason',
    ]),
    detectorSeconds: metrics.histogram(
      'sluice_detector_seconds',
      'Time of one detector on one call.',
      detectorBuckets,
      ['scorer'],
    ),
    ...createJudgeMetrics(metrics),
    oldestJobAgeSeconds: metrics.gauge(
      'sluice_scorer_oldest_job_age_seconds',
      'Age of the oldest live job under way, large calls apart; 0: none is.',
    ),
    replayPaused: metrics.gauge('sluice_scorer_replay_paused', '1: replays wait because live jobs are late.'),
    detectorThreads: metrics.counter(
      'sluice_detector_threads_total',
      'Large calls read in a thread, by what came of it.',
      ['outcome'],
    ),
    largeCallBytes: metrics.gauge(
      'sluice_scorer_large_call_bytes',
      'Memory that large calls are reckoned to take which are being scored; from 128 MiB on others wait.',
    ),
    requeuedJobs: metrics.counter(
      'sluice_scorer_requeued_jobs_total',
      'Jobs sent on: `large` to the lane of large calls, `too_slow` to the end of their queue for a second try.',
      ['reason'],
    ),
    unhashedValues: metrics.counter(
      'sluice_scorer_value_key_unreadable_total',
      "Times that a project's key of value hashes did not open: its scores carry no hashes.",
    ),
    waitingJobs: createWaitingJobs(metrics),
    customScorers: metrics.gauge('sluice_custom_scorers', 'Custom scorers in force.'),
    customReloads,
    customRefused: metrics.gauge(
      'sluice_custom_scorers_refused',
      '1: the custom scorers file is refused as it stands.',
    ),
    previews: metrics.counter('sluice_scorer_previews_total', "Previews of projects' scorers.", ['outcome']),
  }
}

type JudgeMetrics = Pick<
  ScorerMetrics,
  'judgeSeconds' | 'judgeCalls' | 'judgeTokens' | 'judgeUsd' | 'judgeFailures'
>

function createJudgeMetrics(metrics: Metrics): JudgeMetrics {
  const judgeCalls = metrics.counter(
    'sluice_judge_calls_total',
    'Requests to the judge, by what came of them.',
    ['outcome'],
  )
  // Start every series at 0: alerts use increase(), which misses a series that begins at 1.
  for (const outcome of judgeOutcomes) judgeCalls.inc({ outcome }, 0)
  const judgeBuckets = [0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30]
  return {
    judgeSeconds: metrics.histogram(
      'sluice_judge_seconds',
      'Time of one request to the judge.',
      judgeBuckets,
    ),
    judgeCalls,
    judgeTokens: metrics.counter('sluice_judge_tokens_total', 'Tokens that the judge counted.', ['kind']),
    judgeUsd: metrics.counter('sluice_judge_usd_total', 'US dollars that the judge cost.', ['scorer']),
    judgeFailures: metrics.counter(
      'sluice_scores_judge_failed_total',
      'Scores of detectors that stand because the judge, asked too, gave no verdict, by why.',
      ['scorer', 'reason'],
    ),
  }
}

function createWaitingJobs(metrics: Metrics): ScorerMetrics['waitingJobs'] {
  const gauge = metrics.gauge(
    'sluice_scorer_waiting_jobs',
    'Jobs by what they wait for, in the order in which they do: `turn` (SCORER_CONCURRENCY), `large_turn` (SCORER_LARGE_CONCURRENCY), `room` (memory for large calls), `thread` (DETECTOR_THREADS), and requests to the judge: `judge_slot` (twice JUDGE_CONCURRENCY, while a request waits, asks and is booked), `judge_rate`, `judge` (JUDGE_CONCURRENCY). Who waits keeps what it has, so the last one that is waited for is short.',
    ['what', 'lane'],
  )
  for (const what of waitedFor) for (const lane of lanes) gauge.set({ what, lane }, 0)
  return gauge
}

/** Counts the waiters for one resource. */
export function countWaiting(
  { waitingJobs }: Pick<ScorerMetrics, 'waitingJobs'>,
  what: (typeof waitedFor)[number],
): OnWaiting {
  return (lane, change) => waitingJobs.inc({ what, lane }, change)
}
