import { randomBytes } from 'node:crypto'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { readJudgeAnswer, type Judgement } from '../scoring/judge/judge-answer.ts'
import { makeJudgePrompt, type JudgeMaterial } from '../scoring/judge/judge-prompt.ts'
import type { Rubric } from '../scoring/judge/rubric.ts'
import { windowText } from '../scoring/judge/window-text.ts'
import type { JudgeTrace } from '#detectors/verdict.ts'
import type { UnscoredReason } from '#schemas/unscored.ts'
import type { ScorerMetrics } from '../scorer-metrics.ts'
import type { JudgeSpend } from '../stores/judge-budget.ts'
import {
  createPaidRequests,
  nothingSpent,
  type Failed,
  type ModelReply,
  type PaidRequestsOptions,
} from './paid-requests.ts'
import type { Waiter } from './wait-queue.ts'

/** Totals over all attempts. */
type Trace = Omit<JudgeTrace, 'rubric'>

export type JudgeResult =
  | { kind: 'judged'; judgements: ReadonlyMap<BuiltInScorer, Judgement>; trace: Trace }
  | { kind: 'failed'; reason: UnscoredReason; trace: Trace }

/** A call to be graded. */
export interface JudgeCase extends Waiter {
  /** Rubrics that need the same evidence. */
  rubrics: readonly Rubric[]
  material: JudgeMaterial
}

export interface Judge {
  /** Grades one call. Model failures are results; rejects if `signal` aborts or the budget store fails. */
  judge(given: JudgeCase, signal: AbortSignal): Promise<JudgeResult>
  stop(): void
}

type Attempt = ({ kind: 'judged'; judgements: ReadonlyMap<BuiltInScorer, Judgement> } | Failed) & {
  spend: JudgeSpend
  /** Null: no answer. */
  reply: ModelReply | null
}

const attempts = 2
/** UTF-16 units stored of a raw answer. A good answer to ten rubrics needs half. */
const maxKept = 16_000

/** Has a model grade calls. After two failed attempts the call stays unscored. */
export function createJudge(options: PaidRequestsOptions): Judge {
  const { model, price, metrics, clock } = options
  const requests = createPaidRequests(options)

  async function attempt(given: JudgeCase, signal: AbortSignal): Promise<Attempt> {
    const { projectId, rubrics, material, lane } = given
    const secrets = { marker: randomBytes(12).toString('hex'), check: randomBytes(8).toString('hex') }
    const prompt = makeJudgePrompt(rubrics, material, secrets)
    const scorers = rubrics.map(({ scorer }) => scorer)
    const paid = await requests.send({ projectId, scorers, prompt, lane }, signal)
    countSpend(paid.spend, rubrics, metrics)
    if (paid.kind === 'failed') return { ...paid, reply: null }
    const { reply, spend } = paid
    if (reply.text === null) return { kind: 'failed', reason: 'judge_refused', retryInMs: null, spend, reply }
    const judgements = readJudgeAnswer(reply.text, rubrics, material, secrets.check)
    return judgements === undefined
      ? { kind: 'failed', reason: 'judge_answer_invalid', retryInMs: 0, spend, reply }
      : { kind: 'judged', judgements, spend, reply }
  }

  /** `tried`: all attempts, the last one last. */
  function traceOf(tried: readonly Attempt[], askedTogether: number, startedMs: number): Trace {
    const spent = tried.reduce((sum, { spend }) => add(sum, spend), nothingSpent)
    const counted = tried.some(({ spend }) => spend.promptTokens + spend.completionTokens > 0)
    const answer = tried.findLast(({ reply }) => typeof reply?.text === 'string')?.reply?.text
    return {
      model,
      prompt_tokens: counted ? spent.promptTokens : null,
      completion_tokens: counted ? spent.completionTokens : null,
      // Ten decimals: exact to the token at one cent per million tokens. The rest is floating-point noise.
      cost_usd: price === null ? null : Number(spent.usd.toFixed(10)),
      asked_together: askedTogether,
      latency_ms: clock.now() - startedMs,
      ...(typeof answer === 'string' ? { raw_answer: windowText(answer, maxKept) } : {}),
    }
  }

  async function judge(given: JudgeCase, signal: AbortSignal): Promise<JudgeResult> {
    const startedMs = clock.now()
    const tried: Attempt[] = []
    for (;;) {
      const result = await attempt(given, signal)
      tried.push(result)
      metrics.judgeCalls.inc({ outcome: result.kind === 'judged' ? 'judged' : result.reason })
      const trace = traceOf(tried, given.rubrics.length, startedMs)
      if (result.kind === 'judged') return { kind: 'judged', judgements: result.judgements, trace }
      if (tried.length === attempts || result.retryInMs === null)
        return { kind: 'failed', reason: result.reason, trace }
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

/** Scorers of one request share its cost. */
function countSpend(spend: JudgeSpend, rubrics: readonly Rubric[], metrics: ScorerMetrics): void {
  metrics.judgeTokens.inc({ kind: 'prompt' }, spend.promptTokens)
  metrics.judgeTokens.inc({ kind: 'completion' }, spend.completionTokens)
  for (const { scorer } of rubrics) metrics.judgeUsd.inc({ scorer }, spend.usd / rubrics.length)
}
