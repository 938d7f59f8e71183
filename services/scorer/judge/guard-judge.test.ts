import { describe, expect, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { createScorerMetrics } from '../scorer-metrics.ts'
import type { JudgeMaterial } from '../scoring/judge/judge-prompt.ts'
import { parseRubric } from '../scoring/judge/rubric.ts'
import type { JudgeSpend } from '../stores/judge-budget.ts'
import { createGuardJudge } from './guard-judge.ts'
import { JudgeError } from './judge-error.ts'
import { createJudge, type Judge } from './judge.ts'
import type { AskModel } from './paid-requests.ts'
import { routeJudges } from './route-judges.ts'

const never = new AbortController().signal
const material: JudgeMaterial = {
  ...{ request: 'a question', answer: 'an answer', system_prompt: '', context: [], tools: '', turns: [] },
  partial: new Set(),
}
const rubricOf = (scorer: BuiltInScorer) =>
  parseRubric(`---\nscorer: ${scorer}\nversion: 1\nlooks_at: [request, answer]\n---\nText.`)
const rubrics = [rubricOf('content_safety'), rubricOf('pii_detection'), rubricOf('supply_chain')]

/** A model that gives these answers in turn, the last one for ever. An error is thrown. */
function modelOf(...answers: (string | null | Error)[]) {
  const asked: string[][] = []
  const spent: JudgeSpend[] = []
  const ask: AskModel = (prompt) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? null
    asked.push('messages' in prompt ? prompt.messages.map(({ role }) => role) : ['json'])
    if (answer instanceof Error) return Promise.reject(answer)
    return Promise.resolve({ text: answer, promptTokens: 300, cachedTokens: 0, completionTokens: 10 })
  }
  const settle = (spend: JudgeSpend) => Promise.resolve(void spent.push(spend))
  const options = {
    ask,
    model: 'a-guard',
    price: { input: 1, cachedInput: 1, output: 1 },
    budget: { reserve: () => Promise.resolve({ kind: 'reserved' as const, settle }) },
    concurrency: 1,
    requestsPerMinute: null,
    tokensPerMinute: null,
    metrics: createScorerMetrics(createMetrics()),
    log: createLog('test', 'silent'),
    clock: { now: () => 0, sleep: () => Promise.resolve() },
  }
  return { asked, spent, options }
}

async function judgeWith(judge: Judge, given = material) {
  const [group = []] = judge.arrange(rubrics, given, 'evidence')
  const result = await judge.judge({ projectId: 'prj', lane: 'live', rubrics: group, material: given }, never)
  judge.stop()
  return result
}

describe('a guard', () => {
  test('is asked once for each side, for all its scorers, and billed for both', async () => {
    const { asked, spent, options } = modelOf('safe', '\n\nunsafe\nS2,S7')
    const result = await judgeWith(createGuardJudge('llama_guard', options))
    expect(asked).toEqual([['user'], ['user', 'assistant']])
    expect(spent).toHaveLength(2)
    expect(result).toMatchObject({
      kind: 'judged',
      judgements: new Map([
        ['pii_detection', expect.objectContaining({ requestLevel: null, answerLevel: 4 })],
        ['content_safety', expect.objectContaining({ requestLevel: 1, answerLevel: 4 })],
      ]),
      trace: {
        ...{ model: 'a-guard', prompt_tokens: 600, completion_tokens: 20, cost_usd: 0.00062 },
        ...{ asked_together: 2, raw_answer: 'safe\n\n\n\nunsafe\nS2,S7' },
      },
    })
  })

  test('is asked once more after an answer outside the format, which then leaves the call unscored', async () => {
    const once = modelOf('I am fine.', 'safe')
    expect((await judgeWith(createGuardJudge('llama_guard', once.options))).kind).toBe('judged')
    expect(once.asked).toHaveLength(3)
    const twice = modelOf('I am fine.')
    const result = await judgeWith(createGuardJudge('llama_guard', twice.options), {
      ...material,
      answer: '',
    })
    expect(result).toMatchObject({
      ...{ kind: 'failed', reason: 'judge_answer_invalid' },
      trace: { raw_answer: 'I am fine.', cost_usd: 0.00062 },
    })
    expect(twice.asked).toHaveLength(2)
  })

  test.each([
    ['away', new JudgeError('no', { status: 500 }), 'judge_unavailable', 2],
    ['refusing', null, 'judge_refused', 1],
  ])('that is %s is not asked about the other side', async (_name, answer, reason, times) => {
    const { asked, options } = modelOf(answer)
    expect(await judgeWith(createGuardJudge('qwen3guard', options))).toMatchObject({ kind: 'failed', reason })
    expect(asked).toHaveLength(times)
  })
})

describe('judges of single scorers', () => {
  const guard = modelOf('safe')
  const main = modelOf('no JSON')
  const guardJudge = createGuardJudge('llama_guard', guard.options)
  const byScorer = new Map<BuiltInScorer, Judge>([['content_safety', guardJudge]])

  test('get their scorers alone', async () => {
    const judge = routeJudges({ byScorer, others: createJudge(main.options) })
    const groups = judge.arrange(rubrics, material, 'evidence')
    expect(groups.map((group) => group.map(({ scorer, version }) => [scorer, version.slice(0, 11)]))).toEqual(
      [
        [['content_safety', 'llama_guard']],
        [
          ['pii_detection', rubrics[1]?.version.slice(0, 11)],
          ['supply_chain', rubrics[2]?.version.slice(0, 11)],
        ],
      ],
    )
    const results = groups.map((group) =>
      judge.judge({ projectId: 'prj', lane: 'live', rubrics: group, material }, never),
    )
    expect((await Promise.all(results)).map(({ kind }) => kind)).toEqual(['judged', 'failed'])
    expect([guard.asked.length, main.asked.length]).toEqual([2, 2])
    judge.stop()
  })

  test('leave the others to detectors where there is no other judge, or it is a guard', () => {
    expect(routeJudges({ byScorer, others: null }).covers('supply_chain')).toBe(false)
    expect(routeJudges({ byScorer, others: guardJudge }).covers('supply_chain')).toBe(false)
    expect(routeJudges({ byScorer, others: guardJudge }).covers('pii_detection')).toBe(true)
    expect(routeJudges({ byScorer, others: null }).arrange(rubrics, material, 'evidence')).toHaveLength(1)
  })
})
