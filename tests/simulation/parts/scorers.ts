import { createParallelConsumer } from '#runtime/kafka/parallel-consumer.ts'
import type { Service } from '#runtime/service.ts'
import { topics } from '#schemas/topics.ts'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { createCallRoom } from '#services/scorer/call-room.ts'
import { createScoreHandler } from '#services/scorer/handler.ts'
import { createJobsUnderWay } from '#services/scorer/jobs-under-way.ts'
import { createPermits } from '#services/scorer/judge/permits.ts'
import { createScorerMetrics } from '#services/scorer/scorer-metrics.ts'
import type { ScorersOfTier } from '#services/scorer/scoring/parse-tiers.ts'
import { judged } from '#services/scorer/scoring/verdict.ts'
import type { DetectCall } from '#services/scorer/steps/detect-call.ts'
import type { SimGround } from './ground.ts'

/** Two scorers for everybody: what each of them sees in a call is tested where they are (services/scorer/scoring). */
export const scorersOfAll: readonly BuiltInScorer[] = ['content_safety', 'jailbreak_detection']
const tiers: ScorersOfTier = {
  free: scorersOfAll,
  pro: scorersOfAll,
  team: scorersOfAll,
  enterprise: scorersOfAll,
}

/** A call with this in it is unsafe, for the first of the scorers. */
export const unsafeWord = 'unsafe-on-purpose'

const detect: DetectCall = ({ builtIn }, call) => {
  const isUnsafe = JSON.stringify(call.request?.value ?? null).includes(unsafeWord)
  return Promise.resolve(
    builtIn.map((scorer) => {
      const value = isUnsafe && scorer === scorersOfAll[0] ? 5 : 1
      const finding = { value, rationale: 'simulated', contentFreeRationale: 'simulated', evidence: [] }
      return { scorer, version: '1', owaspCategory: null, verdict: judged('detector', finding) }
    }),
  )
}

/** As services/scorer/service.ts puts it together, for live jobs, with detectors of the simulation and no judge. */
export function startSimScorer(ground: SimGround): Service {
  const { database, producer, codecs, metrics, clock } = ground
  const scorerMetrics = createScorerMetrics(metrics)
  const handler = createScoreHandler('live', {
    ...ground,
    metrics: scorerMetrics,
    judge: null,
    rubrics: new Map(),
    judgeTextLimit: 1_000,
    judgeGrouping: 'evidence',
    detect,
    tiers,
    custom: { current: () => [] },
    settings: {
      of: () => database.ask(() => ({ judgeMode: 'never', sampling: {}, hasErasures: false })),
    },
    isErased: () => Promise.resolve(false),
    jobs: createJobsUnderWay(scorerMetrics, clock),
    room: createCallRoom({ mostBytes: Infinity, smallBytes: 0, onChange: () => undefined }),
    turns: createPermits(4, { hasOneMore: true }),
    stopping: new AbortController().signal,
    markKey: null,
    publish: async (scored) => {
      const value = await codecs.scores.encode(scored)
      await producer.send([{ topic: topics.scoreRecorded.name, key: scored.request_id, value }])
    },
  })
  return createParallelConsumer({
    ...ground,
    groupId: 'scorer',
    topics: [topics.scoreJobs.name, topics.scoreJobsEphemeral.name],
    decoder: codecs.jobs,
    handler,
    concurrency: 4,
    window: 4,
    omitDeadLetterValue: (topic) => topic === topics.scoreJobsEphemeral.name,
  })
}
