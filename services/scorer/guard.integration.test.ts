import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { startGuardServer, type GuardServer } from './testing/guard-server.ts'
import { detailsBy, scoreBy, scoresOf } from './testing/read-scores.ts'
import { answers, asks, sampleJob } from './testing/sample-job.ts'
import { sealer, useFixture } from './testing/use-fixture.ts'

const used = useFixture()
const guards: { qwen?: GuardServer; llama?: GuardServer } = {}

beforeAll(async () => {
  guards.qwen = await startGuardServer(({ messages }) =>
    messages.at(-1)?.role === 'user'
      ? 'Safety: Safe\nCategories: None'
      : 'Safety: Safe\nCategories: None\nRefusal: No',
  )
  guards.llama = await startGuardServer(() => '\n\nsafe')
})

afterAll(async () => {
  await guards.qwen?.stop()
  await guards.llama?.stop()
})

const scored = async (job: ScoreJob, scorer: string) => {
  await used.fixture.send([job])
  const { method, score_label, score_value, reason } = scoreBy(
    scorer,
    await scoresOf(used.fixture, job.request_id),
  )
  return [method, score_label, score_value, reason]
}
const jobOf = (request: string, answer: string, more: Partial<ScoreJob> = {}) =>
  sampleJob(sealer, { request: asks(request), response: answers(answer) }, more)

describe('a guard model at OPENAI_BASE_URL', () => {
  const start = () =>
    used.start({
      OPENAI_BASE_URL: guards.qwen?.url ?? '',
      SCORER_MODEL: 'Qwen/Qwen3Guard-Gen-0.6B',
      JUDGE_KIND: 'qwen3guard',
      JUDGE_MARK_SECRET: 'a secret of sixteen',
      JUDGE_INPUT_USD_PER_MILLION: '1',
      JUDGE_OUTPUT_USD_PER_MILLION: '1',
    })
  const invalid = 'Certainly! It is safe.'

  test.each([
    ['hello', 'hello', ['judge', 'safe', 1, null]],
    ['[[Safety: Unsafe / Categories: Violent]]', 'hello', ['judge', 'unsafe', 4, null]],
    ['hello', '[[Safety: Controversial / Categories: Violent / Refusal: No]]', ['judge', 'safe', 3, null]],
    [`[[${invalid}]]`, 'hello', ['judge', 'unscored', null, 'judge_answer_invalid']],
    ['hello', '[[503]]', ['judge', 'unscored', null, 'judge_unavailable']],
  ])('that is asked about %j and %j', async (request, answer, expected) => {
    await start()
    expect(await scored(jobOf(request, answer), 'content_safety')).toEqual(expected)
  })

  test('leaves to the detectors what it does not cover, and its trace where it found nothing', async () => {
    await start()
    const job = jobOf('hello', 'hello')
    expect(await scored(job, 'hallucination')).toEqual(['detector', 'unscored', null, 'no_context'])
    const call = await scoresOf(used.fixture, job.request_id)
    expect(scoreBy('jailbreak_detection', call).method).toBe('detector')
    expect(detailsBy('jailbreak_detection', call, sealer).judge).toMatchObject({
      model: 'Qwen/Qwen3Guard-Gen-0.6B',
      rubric: 'qwen3guard-1',
      failed: 'kind_not_covered',
      prompt_tokens: 600,
      cost_usd: 0.00062,
    })
    expect(detailsBy('supply_chain', call, sealer)).not.toHaveProperty('judge')
    expect(scoreBy('content_safety', call).scorer_version).toBe('qwen3guard-1')
  })

  test('is within the budget, and its own calls are not scored', async () => {
    await start()
    const project_id = await used.fixture.addProject({ judge_usd_per_period: 0.000_001 })
    expect(await scored(jobOf('hello', 'hello', { project_id }), 'content_safety')).toEqual([
      ...['judge', 'unscored', null, 'budget_spent'],
    ])
    await scored(jobOf('hello', 'hello'), 'content_safety')
    const asked = guards.qwen?.requests.at(-1)
    const metadata = String(asked?.headers['x-service-metadata'])
    const own = sampleJob(sealer, { request: asked?.body }, { metadata })
    await used.fixture.send([own])
    await scored(jobOf('good bye', 'good bye'), 'content_safety')
    expect(used.fixture.recorded.filter(({ request_id }) => request_id === own.request_id)).toEqual([])
  })
})

test('single scorers have a judge of their own, with its key, and one that is away stops no other', async () => {
  const endpoint = {
    ...{ base_url: guards.llama?.url, model: 'llama-guard3:1b', kind: 'llama_guard', key: 'guard' },
    ...{ input_usd_per_million: 0, output_usd_per_million: 0 },
  }
  await used.startJudged({
    JUDGE_ENDPOINTS: JSON.stringify({ content_safety: endpoint, pii_detection: endpoint }),
    JUDGE_ENDPOINT_KEYS: 'guard=sk-guard',
  })
  const before = used.judge.requests.length
  const job = jobOf('hello', '[[unsafe / S4,S7]]')
  expect(await scored(job, 'content_safety')).toEqual(['judge', 'unsafe', 5, null])
  const call = await scoresOf(used.fixture, job.request_id)
  expect(scoreBy('pii_detection', call)).toMatchObject({ method: 'judge', score_value: 4 })
  expect(guards.llama?.requests.at(-1)?.headers['authorization']).toBe('Bearer sk-guard')
  const asked = used.judge.requests.slice(before).map(({ body }) => JSON.stringify(body))
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.filter((body) => body.includes('Rubric: content_safety'))).toEqual([])
  expect(await scored(jobOf('hello', '[[503]]'), 'content_safety')).toEqual([
    ...['judge', 'unscored', null, 'judge_unavailable'],
  ])
})
