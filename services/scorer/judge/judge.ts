import { randomBytes } from 'node:crypto'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { readJudgeAnswer, type Judgement } from '../scoring/judge/judge-answer.ts'
import { makeJudgePrompt, type JudgeMaterial } from '../scoring/judge/judge-prompt.ts'
import type { Rubric } from '../scoring/judge/rubric.ts'
import type { JudgeTrace, UnscoredReason } from '../scoring/verdict.ts'
import type { ScorerMetrics } from '../scorer-metrics.ts'
import type { JudgeSpend } from '../stores/judge-budget.ts'
import { createPaidRequests, nothingSpent, type Failed, type PaidRequestsOptions } from './paid-requests.ts'
import type { Lane } from './waiting-lines.ts'

export type JudgeResult =
  | { kind: 'judged'; judgements: ReadonlyMap<BuiltInScorer, Judgement>; trace: Omit<JudgeTrace, 'rubric'> }
  | { kind: 'failed'; reason: UnscoredReason }

/** A call to be graded. */
export interface JudgeCase {
  projectId: string
  /** They need the same evidence. */
  rubrics: readonly Rubric[]
  material: JudgeMaterial
  lane: Lane
}

export interface Judge {
  /** Grades one call. Never rejects for what the model does; rejects when `signal` aborts or the budget cannot be asked. */
  judge(given: JudgeCase, signal: AbortSignal): Promise<JudgeResult>
  stop(): void
}

type Attempt = (
  | { kind: 'judged'; judgements: ReadonlyMap<BuiltInScorer, Judgement>; answer: string; counted: boolean }
  | Failed
) & { spend: JudgeSpend }

const attempts = 2

/** Asks a model to grade calls: two attempts, then the call stays unscored. */
export function createJudge(options: PaidRequestsOptions): Judge {
  const { model, price, metrics, clock } = options
  const requests = createPaidRequests(options)

  async function attempt(given: JudgeCase, signal: AbortSignal): Promise<Attempt> {
    const { projectId, rubrics, material, lane } = given
    const secrets = { marker: randomBytes(12).toString('hex'), check: randomBytes(8).toString('hex') }
    const prompt = makeJudgePrompt(rubrics, material, secrets)
    const paid = await requests.send({ projectId, prompt, lane }, signal)
    countSpend(paid.spend, rubrics, metrics)
    if (paid.kind === 'failed') return paid
    const { reply, spend } = paid
    if (reply.text === null) return { kind: 'failed', reason: 'judge_refused', retryInMs: null, spend }
    const judgements = readJudgeAnswer(reply.text, rubrics, material, secrets.check)
    return judgements === undefined
      ? { kind: 'failed', reason: 'judge_answer_invalid', retryInMs: 0, spend }
      : { kind: 'judged', judgements, answer: reply.text, counted: reply.promptTokens !== null, spend }
  }

  async function judge(given: JudgeCase, signal: AbortSignal): Promise<JudgeResult> {
    const startedMs = clock.now()
    let spent = nothingSpent
    for (let number = 1; ; number++) {
      const result = await attempt(given, signal)
      metrics.judgeCalls.inc({ outcome: result.kind === 'judged' ? 'judged' : result.reason })
      spent = add(spent, result.spend)
      if (result.kind === 'judged') {
        const trace = {
          model,
          prompt_tokens: result.counted ? spent.promptTokens : null,
          completion_tokens: result.counted ? spent.completionTokens : null,
          // Ten decimals: a price of a cent a million tokens is exact to the token, and the rest is binary noise.
          cost_usd: price === null ? null : Number(spent.usd.toFixed(10)),
          asked_together: given.rubrics.length,
          latency_ms: clock.now() - startedMs,
          raw_answer: result.answer,
        }
        return { kind: 'judged', judgements: result.judgements, trace }
      }
      if (number === attempts || result.retryInMs === null) return { kind: 'failed', reason: result.reason }
      await clock.sleep(result.retryInMs, signal)
    }
  }

  return { judge, stop: () => requests.stop() }
}

function add(one: JudgeSpend, other: JudgeSpend): JudgeSpend {
  return {
    usd: one.usd + other.usd,
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
  }
}

/** Scorers that were asked together share what it cost. */
function countSpend(spend: JudgeSpend, rubrics: readonly Rubric[], metrics: ScorerMetrics): void {
  metrics.judgeTokens.inc({ kind: 'prompt' }, spend.promptTokens)
  metrics.judgeTokens.inc({ kind: 'completion' }, spend.completionTokens)
  for (const { scorer } of rubrics) metrics.judgeUsd.inc({ scorer }, spend.usd / rubrics.length)
}
