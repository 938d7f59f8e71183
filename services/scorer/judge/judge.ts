import { randomBytes } from 'node:crypto'
import CircuitBreaker from 'opossum'
import { messageOf } from '#runtime/errors.ts'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { readJudgeAnswer, type Judgement } from '../scoring/judge/judge-answer.ts'
import { makeJudgePrompt, type JudgeMaterial, type JudgePrompt } from '../scoring/judge/judge-prompt.ts'
import type { Rubric } from '../scoring/judge/rubric.ts'
import type { JudgeTrace, UnscoredReason } from '../scoring/verdict.ts'
import type { ScorerMetrics } from '../scorer-metrics.ts'
import { JudgeTrouble } from './judge-trouble.ts'
import { createPermits } from './permits.ts'

/** What one request to the model brought. */
export interface ModelReply {
  /** The text of the answer; null when the model declined. */
  text: string | null
  promptTokens: number | null
  completionTokens: number | null
}

/** Sends one prompt to the model. Rejects with JudgeTrouble, or with the signal's reason. */
export type AskModel = (prompt: JudgePrompt, signal: AbortSignal) => Promise<ModelReply>

export type JudgeResult =
  | { kind: 'judged'; judgements: ReadonlyMap<BuiltInScorer, Judgement>; trace: Omit<JudgeTrace, 'rubric'> }
  | { kind: 'failed'; reason: UnscoredReason }

export interface Judge {
  /** Grades one call by rubrics that need the same evidence. Never rejects for what the model does; rejects when `signal` aborts. */
  judge(rubrics: readonly Rubric[], material: JudgeMaterial, signal: AbortSignal): Promise<JudgeResult>
  stop(): void
}

interface JudgeOptions {
  ask: AskModel
  model: string
  concurrency: number
  metrics: ScorerMetrics
  log: Log
  clock: Clock
}

const attempts = 2
const retryAfterMs = 500
/** A provider that asks for longer waits is treated as away: the call is unscored rather than everything behind it late. */
const longestRetryAfterMs = 10_000
const breakerOptions = {
  // Each attempt has the client's own time limit.
  timeout: false as const,
  errorThresholdPercentage: 50,
  volumeThreshold: 10,
  rollingCountTimeout: 30_000,
  resetTimeout: 15_000,
}

/**
 * Asks a model to grade calls: two attempts, then the call stays unscored. The breaker opens when the model is away, so
 * that a provider's outage costs a moment a call and not a minute.
 */
export function createJudge({ ask, model, concurrency, metrics, log, clock }: JudgeOptions): Judge {
  const permits = createPermits(concurrency)
  const breaker = new CircuitBreaker(ask, {
    ...breakerOptions,
    // What the model was asked is to blame, or we stopped: neither says that the model is away.
    errorFilter: (error: unknown) => !(error instanceof JudgeTrouble && error.countsAgainstModel),
  })
  breaker.on('open', () => log.warn({ model }, 'the judge is given a rest: too many of its calls fail'))
  breaker.on('close', () => log.info({ model }, 'the judge answers again'))

  /** One attempt: judgements, or why there are none and how long to wait before another (null: another would not help). */
  async function attempt(
    rubrics: readonly Rubric[],
    material: JudgeMaterial,
    signal: AbortSignal,
  ): Promise<Attempt> {
    const secrets = { marker: randomBytes(12).toString('hex'), check: randomBytes(8).toString('hex') }
    const startedMs = clock.now()
    try {
      const reply = await breaker.fire(makeJudgePrompt(rubrics, material, secrets), signal)
      const trace = {
        model,
        prompt_tokens: reply.promptTokens,
        completion_tokens: reply.completionTokens,
        latency_ms: clock.now() - startedMs,
      }
      metrics.judgeTokens.inc({ kind: 'prompt' }, reply.promptTokens ?? 0)
      metrics.judgeTokens.inc({ kind: 'completion' }, reply.completionTokens ?? 0)
      if (reply.text === null) return { kind: 'failed', reason: 'judge_refused', retryInMs: null }
      const judgements = readJudgeAnswer(reply.text, rubrics, material, secrets.check)
      if (judgements === undefined) return { kind: 'failed', reason: 'judge_answer_invalid', retryInMs: 0 }
      return { kind: 'judged', judgements, trace: { ...trace, raw_answer: reply.text } }
    } catch (error) {
      signal.throwIfAborted()
      return failureOf(error, log)
    } finally {
      metrics.judgeSeconds.observe((clock.now() - startedMs) / 1_000)
    }
  }

  async function judge(
    rubrics: readonly Rubric[],
    material: JudgeMaterial,
    signal: AbortSignal,
  ): Promise<JudgeResult> {
    for (let number = 1; ; number++) {
      const result = await permits.run(() => attempt(rubrics, material, signal), signal)
      metrics.judgeCalls.inc({ outcome: result.kind === 'judged' ? 'judged' : result.reason })
      if (result.kind === 'judged') return result
      if (number === attempts || result.retryInMs === null) return { kind: 'failed', reason: result.reason }
      await clock.sleep(result.retryInMs, signal)
    }
  }

  return { judge, stop: () => breaker.shutdown() }
}

type Attempt =
  | Extract<JudgeResult, { kind: 'judged' }>
  | { kind: 'failed'; reason: UnscoredReason; retryInMs: number | null }

function failureOf(error: unknown, log: Log): Attempt {
  if (error instanceof JudgeTrouble) {
    log.warn({ status: error.status, reason: error.message }, 'a call to the judge failed')
    const waitMs = error.retryAfterMs ?? retryAfterMs
    const retryInMs = error.retryable && waitMs <= longestRetryAfterMs ? waitMs : null
    return { kind: 'failed', reason: error.refused ? 'judge_refused' : 'judge_unavailable', retryInMs }
  }
  if (CircuitBreaker.isOurError(error as Error)) {
    log.debug({ reason: messageOf(error) }, 'the judge was not asked')
    return { kind: 'failed', reason: 'judge_unavailable', retryInMs: null }
  }
  throw error
}
