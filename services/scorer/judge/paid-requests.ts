import CircuitBreaker from 'opossum'
import type { Clock } from '#runtime/clock.ts'
import { messageOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { JudgePrompt } from '../scoring/judge/judge-prompt.ts'
import type { UnscoredReason } from '../scoring/verdict.ts'
import { countWaiting, type ScorerMetrics } from '../scorer-metrics.ts'
import type { JudgeBudget, JudgeSpend } from '../stores/judge-budget.ts'
import { costOf, mostTokensOf, type JudgePrice } from './judge-price.ts'
import { JudgeTrouble } from './judge-trouble.ts'
import { createPermits, type OnWaiting, type Permits } from './permits.ts'
import { createRateLimit } from './rate-limit.ts'
import type { Waiter } from './waiting-lines.ts'

/** What one request to the model brought. */
export interface ModelReply {
  /** The text of the answer; null when the model declined. */
  text: string | null
  promptTokens: number | null
  /** Of these, those that the provider had read before. */
  cachedTokens: number
  completionTokens: number | null
}

/** Sends one prompt to the model. Rejects with JudgeTrouble, or with the signal's reason. */
export type AskModel = (prompt: JudgePrompt, signal: AbortSignal) => Promise<ModelReply>

/** Why a request brought nothing, and how long to wait before another (null: another would not help). */
export interface Failed {
  kind: 'failed'
  reason: UnscoredReason
  retryInMs: number | null
}
export type Paid = ({ kind: 'answered'; reply: ModelReply } | Failed) & { spend: JudgeSpend }

/** Its project pays. */
export interface JudgeRequest extends Waiter {
  /** What for. */
  scorers: readonly string[]
  prompt: JudgePrompt
}

/** Requests to the model within its rates and the project's budget. */
export interface PaidRequests {
  /** Rejects when `signal` aborts or the budget cannot be asked, else never. */
  send(request: JudgeRequest, signal: AbortSignal): Promise<Paid>
  stop(): void
}

export interface PaidRequestsOptions {
  ask: AskModel
  model: string
  /** Null: not known. */
  price: JudgePrice | null
  budget: JudgeBudget
  /** Requests at once. */
  concurrency: number
  /** Null: no limit. */
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  metrics: ScorerMetrics
  log: Log
  clock: Clock
}

export const nothingSpent: JudgeSpend = { usd: 0, promptTokens: 0, completionTokens: 0 }

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
 * What a request can cost at most is set aside before it is made, and what it did cost put in its place. The breaker opens when the
 * model is away, so that a provider's outage costs a moment a call and not a minute.
 */
export function createPaidRequests(options: PaidRequestsOptions): PaidRequests {
  const { price, budget, metrics, log, clock } = options
  const countForRate = countWaiting(metrics, 'judge_rate')
  const requests = createRateLimit(options.requestsPerMinute, clock, countForRate)
  const tokens = createRateLimit(options.tokensPerMinute, clock, countForRate)
  const runInSlot = createSlots(options.concurrency, countWaiting(metrics, 'judge_slot'))
  const permits = createPlaces(options.concurrency, countWaiting(metrics, 'judge'))
  const breaker = createBreaker(options)
  const pause = createPause(clock)

  async function waitForTurn(likelyTokens: number, who: Waiter, signal: AbortSignal): Promise<void> {
    await requests.take(1, signal, who)
    await tokens.take(likelyTokens, signal, who)
    for (let leftMs = pause.leftMs(); leftMs > 0 && !signal.aborted; leftMs = pause.leftMs())
      await clock.sleep(leftMs, signal)
    signal.throwIfAborted()
  }

  /** Nothing is sent: who has spent its budget must not use up the rate of the others. */
  function giveUp(failed: Failed, likelyTokens: number): Paid {
    requests.correct(-1)
    tokens.correct(-likelyTokens)
    return { ...failed, spend: nothingSpent }
  }

  /** Sets the cost aside, asks, and puts what it did cost in its place. */
  async function pay(request: JudgeRequest, signal: AbortSignal): Promise<Paid> {
    const { projectId, scorers, prompt } = request
    const most = mostTokensOf(prompt)
    await waitForTurn(most.likely, request, signal)
    if (breaker.opened) return giveUp(away, most.likely)
    const maxUsd = price === null ? null : costOf(price, most.prompt, most.completion)
    const reserved = await budget.reserve(projectId, maxUsd, scorers)
    if (reserved.kind === 'refused')
      return giveUp({ kind: 'failed', reason: reserved.reason, retryInMs: null }, most.likely)
    let spend = nothingSpent
    const ask = async () => {
      // Who gives no answer may have worked, and counted: the book believes the worst.
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
      tokens.correct(spend.promptTokens + spend.completionTokens - most.likely)
      await reserved.settle(spend)
    }
  }

  return {
    stop: () => breaker.shutdown(),
    send: (request, signal) => runInSlot(() => pay(request, signal), signal, request),
  }
}

/** The provider has asked everybody to wait. */
function createPause(clock: Clock) {
  let untilMs = 0
  return {
    prolong(forMs: number) {
      untilMs = Math.max(untilMs, clock.now() + forMs)
    },
    leftMs(): number {
      // Longer than anybody is waited for: the clock was set back.
      if (untilMs - clock.now() > longestRetryAfterMs) untilMs = 0
      return untilMs - clock.now()
    },
  }
}

/**
 * As many again as are asked at once set their cost aside or write it down meanwhile: the model never waits for the book. Who waits for the
 * rate is in a slot too, so replays get half of them at most: a live request comes as far as the rate at once, and there it goes first.
 */
function createSlots(concurrency: number, onWaiting: OnWaiting): Permits['run'] {
  const slots = createPermits(2 * concurrency, { onWaiting })
  const replaySlots = createPermits(concurrency, { onWaiting })
  return (work, signal, who) => {
    const run = () => slots.run(work, signal, who)
    return who.lane === 'live' ? run() : replaySlots.run(run, signal, who)
  }
}

/** What is set aside is so for two requests' time: a replay that live ones passed here would ask later than that. Into slots they go first. */
function createPlaces(concurrency: number, onWaiting: OnWaiting): Permits {
  return createPermits(concurrency, { isInOrder: true, onWaiting })
}

function createBreaker({
  ask,
  model,
  log,
}: PaidRequestsOptions): CircuitBreaker<Parameters<AskModel>, ModelReply> {
  const breaker = new CircuitBreaker(ask, {
    ...breakerOptions,
    // What the model was asked is to blame, or we stopped: neither says that the model is away.
    errorFilter: (error: unknown) => !(error instanceof JudgeTrouble && error.countsAgainstModel),
  })
  breaker.on('open', () => log.warn({ model }, 'the judge is given a rest: too many of its calls fail'))
  breaker.on('close', () => log.info({ model }, 'the judge answers again'))
  return breaker
}

/** By what the provider counted; by the most that it can be where it does not count. */
function spendOf(reply: ModelReply, price: JudgePrice | null, most: JudgeSpend): JudgeSpend {
  const { promptTokens, cachedTokens, completionTokens } = reply
  if (promptTokens === null || completionTokens === null) return most
  const usd = price === null ? 0 : costOf(price, promptTokens, completionTokens, cachedTokens)
  return { usd, promptTokens, completionTokens }
}

/** Nobody bills a request that was refused with a status, nor one that the breaker kept back. */
function isFree(error: unknown): boolean {
  return error instanceof JudgeTrouble ? error.status !== null : CircuitBreaker.isOurError(error as Error)
}

function askedPauseMs(error: unknown): number {
  const askedMs = error instanceof JudgeTrouble && error.status === 429 ? (error.retryAfterMs ?? 0) : 0
  return askedMs <= longestRetryAfterMs ? askedMs : 0
}

const away: Failed = { kind: 'failed', reason: 'judge_unavailable', retryInMs: null }

function failureOf(error: unknown, log: Log): Failed {
  if (error instanceof JudgeTrouble) {
    log.warn({ status: error.status, reason: error.message }, 'a call to the judge failed')
    const waitMs = error.retryAfterMs ?? retryAfterMs
    const retryInMs = error.retryable && waitMs <= longestRetryAfterMs ? waitMs : null
    return { kind: 'failed', reason: error.refused ? 'judge_refused' : 'judge_unavailable', retryInMs }
  }
  if (!CircuitBreaker.isOurError(error as Error)) throw error
  log.debug({ reason: messageOf(error) }, 'the judge was not asked')
  return away
}
