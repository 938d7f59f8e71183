import type { UnscoredReason } from '#schemas/unscored.ts'
import type { JudgeTrace } from '#detectors/verdict.ts'
import type { ModelPrompt } from '../scoring/judge/model-request.ts'
import { windowText } from '../scoring/judge/window-text.ts'
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
export type Trace = Omit<JudgeTrace, 'rubric'>

/** A prompt, and how its answer is read: undefined for one that is not valid. */
export interface Question<T> {
  prompt: ModelPrompt
  read: (text: string) => T | undefined
}

interface Asking extends Waiter {
  scorers: readonly string[]
  /** The metrics' label instead of the scorers' names, which a project's scorers do not become. */
  label?: string
}

interface Attempt {
  spend: JudgeSpend
  /** Null: no answer. */
  reply: ModelReply | null
}

/** `tried`: all attempts, the last one last. */
export type Answered<T> = ({ kind: 'read'; value: T } | { kind: 'failed'; reason: UnscoredReason }) & {
  tried: readonly Attempt[]
}

/** Questions to one model, each asked once more if it brings no valid answer. */
export interface AskTwice {
  /** Makes a question for each attempt. Rejects if `signal` aborts or the budget store fails. */
  ask<T>(who: Asking, question: () => Question<T>, signal: AbortSignal): Promise<Answered<T>>
  /** What the questions of one judgement cost, and what was answered last to each. */
  traceOf(answered: readonly Answered<unknown>[], askedTogether: number, startedMs: number): Trace
  stop(): void
}

const attempts = 2
/** UTF-16 units stored of a raw answer. A good answer to ten rubrics needs half. */
const maxKept = 16_000

export function createAskTwice(options: PaidRequestsOptions): AskTwice {
  const { model, price, metrics, clock } = options
  const requests = createPaidRequests(options)

  type Tried<T> = ({ kind: 'read'; value: T } | Failed) & Attempt

  async function attempt<T>(
    { scorers, label, projectId, lane }: Asking,
    { prompt, read }: Question<T>,
    signal: AbortSignal,
  ): Promise<Tried<T>> {
    const paid = await requests.send({ projectId, scorers, prompt, lane }, signal)
    const { spend } = paid
    countSpend(spend, label === undefined ? scorers : [label])
    if (paid.kind === 'failed') return { ...paid, reply: null }
    const { reply } = paid
    if (reply.text === null) return { kind: 'failed', reason: 'judge_refused', retryInMs: null, spend, reply }
    const value = read(reply.text)
    return value === undefined
      ? { kind: 'failed', reason: 'judge_answer_invalid', retryInMs: 0, spend, reply }
      : { kind: 'read', value, spend, reply }
  }

  /** Scorers of one request share its cost. */
  function countSpend(spend: JudgeSpend, scorers: readonly string[]): void {
    metrics.judgeTokens.inc({ kind: 'prompt' }, spend.promptTokens)
    metrics.judgeTokens.inc({ kind: 'completion' }, spend.completionTokens)
    for (const scorer of scorers) metrics.judgeUsd.inc({ scorer }, spend.usd / scorers.length)
  }

  return {
    stop: () => requests.stop(),
    async ask(who, question, signal) {
      const tried: Attempt[] = []
      for (;;) {
        const result = await attempt(who, question(), signal)
        tried.push(result)
        metrics.judgeCalls.inc({ outcome: result.kind === 'read' ? 'judged' : result.reason })
        if (result.kind === 'read') return { kind: 'read', value: result.value, tried }
        if (tried.length === attempts || result.retryInMs === null)
          return { kind: 'failed', reason: result.reason, tried }
        await clock.sleep(result.retryInMs, signal)
      }
    },
    traceOf(answered, askedTogether, startedMs) {
      const tried = answered.flatMap((one) => one.tried)
      const spent = tried.reduce((sum, { spend }) => add(sum, spend), nothingSpent)
      const counted = tried.some(({ spend }) => spend.promptTokens + spend.completionTokens > 0)
      const answers = answered.flatMap((one) => lastAnswerOf(one.tried) ?? [])
      return {
        model,
        prompt_tokens: counted ? spent.promptTokens : null,
        completion_tokens: counted ? spent.completionTokens : null,
        // Ten decimals: exact to the token at one cent per million tokens. The rest is floating-point noise.
        cost_usd: price === null ? null : Number(spent.usd.toFixed(10)),
        asked_together: askedTogether,
        latency_ms: clock.now() - startedMs,
        ...(answers.length === 0 ? {} : { raw_answer: windowText(answers.join('\n\n'), maxKept) }),
      }
    },
  }
}

function lastAnswerOf(tried: readonly Attempt[]): string | undefined {
  return tried.findLast(({ reply }) => typeof reply?.text === 'string')?.reply?.text ?? undefined
}

function add(one: JudgeSpend, other: JudgeSpend): JudgeSpend {
  return {
    usd: one.usd + other.usd,
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
  }
}
