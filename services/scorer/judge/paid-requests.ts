import CircuitBreaker from 'opossum'
import type { Clock } from '#runtime/clock.ts'
import { messageOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { ModelPrompt } from '../scoring/judge/model-request.ts'
import type { UnscoredReason } from '#schemas/unscored.ts'
import { countWaiting, type ScorerMetrics } from '../scorer-metrics.ts'
import type { JudgeBudget, JudgeSpend } from '../stores/judge-budget.ts'
import { costOf, maxTokensOf, type JudgePrice } from './judge-price.ts'
import { JudgeError } from './judge-error.ts'
import { createPermits, type OnWaiting, type Permits } from './permits.ts'
import { createRateLimit } from './rate-limit.ts'
import type { Waiter } from './wait-queue.ts'

/** The model's answer to one request. */
export interface ModelReply {
  /** Null when the model declined to answer. */
  text: string | null
  promptTokens: number | null
  /** Prompt tokens that the provider had cached. */
  cachedTokens: number
  completionTokens: number | null
}

/** Sends one prompt to the model. Rejects with JudgeError, or with the signal's reason. */
export type AskModel = (prompt: ModelPrompt, signal: AbortSignal) => Promise<ModelReply>

/** Why a request failed, and how long to wait before a retry (null: do not retry). */
export interface Failed {
  kind: 'failed'
  reason: UnscoredReason
  retryInMs: number | null
}
export type Paid = ({ kind: 'answered'; reply: ModelReply } | Failed) & { spend: JudgeSpend }

/** A request billed to its project. */
export interface JudgeRequest extends Waiter {
  /** The scorers that the request is for. */
  scorers: readonly string[]
  prompt: ModelPrompt
}

/** Sends requests to the model within its rate limits and the project's budget. */
export interface PaidRequests {
  /** Rejects only if `signal` aborts or the budget store fails. */
  send(request: JudgeRequest, signal: AbortSignal): Promise<Paid>
  stop(): void
}

export interface PaidRequestsOptions {
  ask: AskModel
  model: string
  /** Null: unknown. */
  price: JudgePrice | null
  budget: JudgeBudget
  /** Maximum concurrent requests. */
  concurrency: number
  /** Null: unlimited. */
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  metrics: ScorerMetrics
  log: Log
  clock: Clock
}

export const nothingSpent: JudgeSpend = { usd: 0, promptTokens: 0, completionTokens: 0 }

const retryAfterMs = 500
/** A longer Retry-After counts as an outage: this call stays unscored, and later ones are not delayed. */
const maxRetryAfterMs = 10_000
const breakerOptions = {
  // The client limits each attempt itself.
  timeout: false as const,
  errorThresholdPercentage: 50,
  volumeThreshold: 10,
  rollingCountTimeout: 30_000,
  resetTimeout: 15_000,
}

/**
 * Reserves a request's maximum cost before sending it, then replaces it with the actual cost. The breaker
 * opens when the model is down, so an outage costs a call moments, not a minute.
 */
export function createPaidRequests(options: PaidRequestsOptions): PaidRequests {
  const { price, budget, metrics, log, clock } = options
  const countForRate = countWaiting(metrics, 'judge_rate')
  const requests = createRateLimit(options.requestsPerMinute, clock, countForRate)
  const tokens = createRateLimit(options.tokensPerMinute, clock, countForRate)
  const runPending = limitPending(options.concurrency, countWaiting(metrics, 'judge_slot'))
  const permits = createRequestPermits(options.concurrency, countWaiting(metrics, 'judge'))
  const breaker = createBreaker(options)
  const pause = createPause(clock)

  async function waitForRate(likelyTokens: number, who: Waiter, signal: AbortSignal): Promise<void> {
    await requests.take(1, signal, who)
    await tokens.take(likelyTokens, signal, who)
    for (let leftMs = pause.leftMs(); leftMs > 0 && !signal.aborted; leftMs = pause.leftMs())
      await clock.sleep(leftMs, signal)
    signal.throwIfAborted()
  }

  /** Nothing is sent. Returns the rate units: a project without budget must not use up the others' rate. */
  function giveUp(failed: Failed, likelyTokens: number): Paid {
    requests.correct(-1)
    tokens.correct(-likelyTokens)
    return { ...failed, spend: nothingSpent }
  }

  /** Reserves the cost, sends the request, then settles the actual cost. */
  async function pay(request: JudgeRequest, signal: AbortSignal): Promise<Paid> {
    const { projectId, scorers, prompt } = request
    const estimate = maxTokensOf(prompt)
    await waitForRate(estimate.likely, request, signal)
    if (breaker.opened) return giveUp(away, estimate.likely)
    const maxUsd = price === null ? null : costOf(price, estimate.prompt, estimate.completion)
    const reserved = await budget.reserve(projectId, maxUsd, scorers)
    if (reserved.kind === 'refused')
      return giveUp({ kind: 'failed', reason: reserved.reason, retryInMs: null }, estimate.likely)
    let spend = nothingSpent
    const ask = async () => {
      // A request without an answer may have been processed and billed: charge the maximum.
      spend = { ...nothingSpent, usd: maxUsd ?? 0 }
      const endTimer = metrics.judgeSeconds.startTimer()
      try {
        return await breaker.fire(prompt, signal)
      } finally {
        endTimer()
      }
    }
    try {
      const reply = await permits.run(ask, signal, request)
      spend = spendOf(reply, price, spend)
      return { kind: 'answered', reply, spend }
    } catch (error) {
      if (isFree(error)) spend = nothingSpent
      signal.throwIfAborted()
      pause.prolong(askedPauseMs(error))
      return { ...failureOf(error, log), spend }
    } finally {
      tokens.correct(spend.promptTokens + spend.completionTokens - estimate.likely)
      await reserved.settle(spend)
    }
  }

  return {
    stop: () => breaker.shutdown(),
    send: (request, signal) => runPending(() => pay(request, signal), signal, request),
  }
}

/** Pauses all requests for as long as the provider asked. */
function createPause(clock: Clock) {
  let untilMs = 0
  return {
    prolong(forMs: number) {
      untilMs = Math.max(untilMs, clock.now() + forMs)
    },
    leftMs(): number {
      // A pause beyond the maximum means that the clock was set back.
      if (untilMs - clock.now() > maxRetryAfterMs) untilMs = 0
      return untilMs - clock.now()
    },
  }
}

/**
 * Twice the request concurrency: one half may talk to the budget store while the other waits for the model.
 * Jobs waiting for the rate limit also hold one of these permits, so replays get half at most. A live request
 * thus reaches the rate limit at once, and goes first there.
 */
function limitPending(concurrency: number, onWaiting: OnWaiting): Permits['run'] {
  const pending = createPermits(2 * concurrency, { onWaiting })
  const pendingReplays = createPermits(concurrency, { onWaiting })
  return (work, signal, who) => {
    const run = () => pending.run(work, signal, who)
    return who.lane === 'live' ? run() : pendingReplays.run(run, signal, who)
  }
}

/**
 * A reservation lasts for two request timeouts. In order of arrival: a replay overtaken by live work here
 * would exceed that. Live work goes first in the permits before.
 */
function createRequestPermits(concurrency: number, onWaiting: OnWaiting): Permits {
  return createPermits(concurrency, { isInOrder: true, onWaiting })
}

function createBreaker({
  ask,
  model,
  log,
}: PaidRequestsOptions): CircuitBreaker<Parameters<AskModel>, ModelReply> {
  const breaker = new CircuitBreaker(ask, {
    ...breakerOptions,
    // Errors caused by the prompt or by shutdown do not mean that the model is down.
    errorFilter: (error: unknown) => !(error instanceof JudgeError && error.countsAgainstModel),
  })
  breaker.on('open', () => log.warn({ model }, 'the judge is given a rest: too many of its calls fail'))
  breaker.on('close', () => log.info({ model }, 'judge circuit breaker closed'))
  return breaker
}

/** Billed by the provider's token counts, or by the maximum if it reports none. */
function spendOf(reply: ModelReply, price: JudgePrice | null, estimate: JudgeSpend): JudgeSpend {
  const { promptTokens, cachedTokens, completionTokens } = reply
  if (promptTokens === null || completionTokens === null) return estimate
  const usd = price === null ? 0 : costOf(price, promptTokens, completionTokens, cachedTokens)
  return { usd, promptTokens, completionTokens }
}

/** Requests refused with a status, or stopped by the breaker, cost nothing. */
function isFree(error: unknown): boolean {
  return error instanceof JudgeError ? error.status !== null : CircuitBreaker.isOurError(error as Error)
}

function askedPauseMs(error: unknown): number {
  const askedMs = error instanceof JudgeError && error.status === 429 ? (error.retryAfterMs ?? 0) : 0
  return askedMs <= maxRetryAfterMs ? askedMs : 0
}

const away: Failed = { kind: 'failed', reason: 'judge_unavailable', retryInMs: null }

function failureOf(error: unknown, log: Log): Failed {
  if (error instanceof JudgeError) {
    log.warn({ status: error.status, reason: error.message }, 'a call to the judge failed')
    const waitMs = error.retryAfterMs ?? retryAfterMs
    const retryInMs = error.retryable && waitMs <= maxRetryAfterMs ? waitMs : null
    return { kind: 'failed', reason: error.refused ? 'judge_refused' : 'judge_unavailable', retryInMs }
  }
  if (!CircuitBreaker.isOurError(error as Error)) throw error
  log.debug({ reason: messageOf(error) }, 'judge request not sent')
  return away
}
