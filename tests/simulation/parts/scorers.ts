import { createParallelConsumer } from '#runtime/kafka/parallel-consumer.ts'
import { runTogether } from '#runtime/run-together.ts'
import type { Service } from '#runtime/service.ts'
import { topics, type TopicDefinition } from '#schemas/topics.ts'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { createCallBudget } from '#services/scorer/call-budget.ts'
import { createScoreHandler, type ScoreHandlerDependencies } from '#services/scorer/handler.ts'
import { createJobQueues, type QueueName } from '#services/scorer/job-queues.ts'
import { createJobsUnderWay } from '#services/scorer/jobs-under-way.ts'
import { createPermits } from '#services/scorer/judge/permits.ts'
import { createScorerMetrics } from '#services/scorer/scorer-metrics.ts'
import type { ScorersOfTier } from '#services/scorer/scoring/parse-tiers.ts'
import { judged, unscored } from '#detectors/verdict.ts'
import type { DetectCall } from '#services/scorer/steps/detect-call.ts'
import type { SimContext } from './context.ts'

/** The scorers of every project. Their own tests cover what each detects (detectors). */
export const scorersOfAll: readonly BuiltInScorer[] = ['content_safety', 'jailbreak_detection']
const tiers: ScorersOfTier = {
  free: scorersOfAll,
  pro: scorersOfAll,
  team: scorersOfAll,
  enterprise: scorersOfAll,
}

/** Makes a call unsafe for the first scorer. */
export const unsafeWord = 'unsafe-on-purpose'

/** Makes a call large: all others have fewer characters. */
export const largeWords = 'large-on-purpose, by as many words as it takes to be longer than all others'
const inlineMaxChars = 150
/** Makes detectors take too long for a large call, on its first read. */
export const slowWord = 'slow-on-purpose'

const detectWith =
  (slowBefore: Set<string>): DetectCall =>
  ({ builtIn }, call) => {
    const text = JSON.stringify(call.request?.value ?? null)
    const isSlow = text.includes(slowWord) && !slowBefore.has(text)
    if (isSlow) slowBefore.add(text)
    const verdictBy = (scorer: BuiltInScorer) => {
      if (isSlow) return unscored('detector', 'too_slow')
      const value = text.includes(unsafeWord) && scorer === scorersOfAll[0] ? 5 : 1
      const finding = { value, rationale: 'simulated', contentFreeRationale: 'simulated', evidence: [] }
      return judged('detector', finding)
    }
    return Promise.resolve(
      builtIn.map((scorer) => ({ scorer, version: '1', owaspCategory: null, verdict: verdictBy(scorer) })),
    )
  }

/** Assembled like services/scorer/service.ts, for live jobs, with simulated detectors and no judge. */
export function startSimScorer(context: SimContext): Service {
  const { database, producer, codecs, metrics, clock, log } = context
  const scorerMetrics = createScorerMetrics(metrics)
  const handling: ScoreHandlerDependencies = {
    ...context,
    metrics: scorerMetrics,
    judge: null,
    rubrics: new Map(),
    judgeTextLimit: 1_000,
    judgeGrouping: 'evidence',
    detect: detectWith(context.slowCalls),
    tiers,
    custom: { current: () => [] },
    settings: {
      of: () =>
        database.ask(() => ({
          judgeMode: 'never',
          sampling: {},
          hasErasures: false,
          off: new Set<string>(),
          failAt: {},
          scorers: { custom: [], criteria: [], broken: [] },
        })),
    },
    isErased: () => Promise.resolve(false),
    valueKeys: { of: () => Promise.resolve(null) },
    jobs: createJobsUnderWay(scorerMetrics, clock),
    memoryBudget: createCallBudget({ maxBytes: Infinity, smallBytes: Infinity, onChange: () => undefined }),
    jobPermits: createPermits(4, { hasOneMore: true }),
    largeJobPermits: createPermits(2, { hasOneMore: true }),
    inlineMaxChars,
    retryAfterMs: 1_000,
    queues: createJobQueues({ producer, encoder: codecs.jobs, topicPrefix: '' }),
    stopping: new AbortController().signal,
    markKey: null,
    publish: async (scored) => {
      const value = await codecs.scores.encode(scored)
      await producer.send([{ topic: topics.scoreRecorded.name, key: scored.request_id, value }])
    },
  }
  const consume = (queue: QueueName, groupId: string, ...read: TopicDefinition[]) =>
    createParallelConsumer({
      ...context,
      groupId,
      topics: read.map(({ name }) => name),
      decoder: codecs.jobs,
      handler: createScoreHandler(queue, handling),
      concurrency: 4,
      window: 4,
      omitDeadLetterValue: (topic) => topic.endsWith('.ephemeral'),
    })
  const { scoreJobs, scoreJobsEphemeral, scoreJobsLarge, scoreJobsLargeEphemeral } = topics
  const consumers = [
    consume('live', 'scorer', scoreJobs, scoreJobsEphemeral),
    consume('large', 'scorer-large', scoreJobsLarge, scoreJobsLargeEphemeral),
  ]
  return runTogether([consumers], log)
}
