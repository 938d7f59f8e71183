import { createSealer } from '#runtime/sealing.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { ScoreLabel } from '#schemas/verdicts.ts'
import type { JudgeTrace } from '#detectors/verdict.ts'
import { detailsBy, scoreBy, scoresOf } from '#services/scorer/testing/read-scores.ts'
import { answers, asks, sampleJob } from '#services/scorer/testing/sample-job.ts'
import {
  startScorer,
  type RunningScorer,
  type ScorerFixture,
} from '#services/scorer/testing/scorer-fixture.ts'
import { until } from '../../support/until.ts'

/** Ends a run that hangs. On a busy machine a model answers a few tokens a second. */
const judgedWithinMs = 1_800_000
const key = Buffer.alloc(32, 7)
const sealer = createSealer([{ id: 'k1', key }])
const scorer = 'content_safety'

/** What became of a call. */
export interface ScoredCall {
  label: ScoreLabel
  method: string
  reason: string | null
  judge: JudgeTrace | undefined
}

/** One scorer process with the given judge, and what it costs. */
export interface JudgedScorer {
  /** Scores calls, all at once, by one built-in scorer that has no detector's proof about them. */
  score(calls: readonly Said[], changes?: Partial<ScoreJob>): Promise<ScoredCall[]>
  /** Sum of a metric's series that have these labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
  stop(): Promise<void>
}

/** A call; without an answer, only its request is judged. */
export interface Said {
  request: string
  answer?: string
}

export async function startJudgedScorer(
  fixture: ScorerFixture,
  environment: Readonly<Record<string, string>>,
): Promise<JudgedScorer> {
  const running = await startScorer(fixture, {
    BODY_ENCRYPTION_KEYS: `k1:${key.toString('base64')}`,
    JUDGE_MARK_SECRET: 'of the platform test',
    // A price, so that budgets hold: that of a small hosted model.
    JUDGE_INPUT_USD_PER_MILLION: '0.15',
    JUDGE_OUTPUT_USD_PER_MILLION: '0.6',
    JUDGE_TIMEOUT_MS: '300000',
    JUDGE_CONCURRENCY: '1',
    ...environment,
  })
  return {
    score: async (calls, changes = {}) => {
      const jobs = calls.map(({ request, answer }) =>
        sampleJob(
          sealer,
          { request: asks(request), ...(answer === undefined ? {} : { response: answers(answer) }) },
          { ...changes, scorers: [scorer] },
        ),
      )
      await fixture.send(jobs)
      return Promise.all(jobs.map((job) => readScore(fixture, job)))
    },
    metric: (name, labels = {}) => sumOf(running, name, labels),
    stop: () => running.service.stop(),
  }
}

async function readScore(fixture: ScorerFixture, { request_id: id }: ScoreJob): Promise<ScoredCall> {
  const isThere = () => fixture.recorded.some(({ request_id }) => request_id === id)
  await until(isThere, judgedWithinMs)
  const call = await scoresOf(fixture, id)
  const { score_label: label, method, reason } = scoreBy(scorer, call)
  return { label, method, reason, judge: detailsBy(scorer, call, sealer).judge }
}

async function sumOf(
  { metrics }: RunningScorer,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<number> {
  const metric = metrics.registry.getSingleMetric(name.replace(/_count$/, ''))
  if (metric === undefined) throw new Error(`there is no metric ${name}`)
  const { values } = await metric.get()
  return values
    .filter((one) => !name.endsWith('_count') || ('metricName' in one && one.metricName === name))
    .filter((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0)
}

/** One line of what judged calls cost. */
export function summarise(what: string, calls: readonly ScoredCall[], seconds: number): string {
  const invalid = calls.filter(({ reason }) => reason === 'judge_answer_invalid').length
  const judged = calls.filter(({ method, reason }) => method === 'judge' && reason === null).length
  const tokens = sum(calls, ({ judge }) => (judge?.prompt_tokens ?? 0) + (judge?.completion_tokens ?? 0))
  const usd = sum(calls, ({ judge }) => judge?.cost_usd ?? 0)
  const cost = `${tokens} tokens, $${usd.toFixed(5)}, ${seconds.toFixed(1)} s`
  const rest = calls.length - judged - invalid
  return `${what}: ${calls.length} calls, ${judged} judged, ${invalid} unscored after two invalid answers, ${rest} others; ${cost}`
}

function sum(calls: readonly ScoredCall[], of: (call: ScoredCall) => number): number {
  return calls.reduce((total, call) => total + of(call), 0)
}
