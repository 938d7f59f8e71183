import type { Pool } from 'pg'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import type { ScorerConfig } from '../config.ts'
import type { ScorerMetrics } from '../scorer-metrics.ts'
import { createJudgeBudget } from '../stores/judge-budget.ts'
import { readJudgePrice } from '../stores/read-judge-price.ts'
import { createOpenAiModel } from './ask-openai.ts'
import type { JudgePrice } from './judge-price.ts'
import { createJudge, type Judge } from './judge.ts'

/** A request waits for at most one other. A reservation that outlives both and this is a dead process's. */
const leaseBeyondTimeoutMs = 60_000
const priceList = 'infra/prices.json'

/** The configured judge, or null. */
export function makeJudge(
  config: ScorerConfig,
  { log, clock }: ProcessDependencies,
  metrics: ScorerMetrics,
  pool: Pool,
): Judge | null {
  if (config.OPENAI_API_KEY === undefined && config.OPENAI_BASE_URL === undefined) {
    log.warn('no judge configured (OPENAI_API_KEY, OPENAI_BASE_URL): calls that need one stay unscored')
    return null
  }
  const model = config.SCORER_MODEL
  const price = priceOf(config)
  if (price === null) {
    log.warn(
      { model },
      'judge price unknown (JUDGE_INPUT_USD_PER_MILLION): projects with a cap are not judged',
    )
  }
  const ask = createOpenAiModel({
    // Self-hosted servers often need no key, but the client requires one.
    apiKey: config.OPENAI_API_KEY ?? 'none',
    baseUrl: config.OPENAI_BASE_URL,
    model,
    timeoutMs: config.JUDGE_TIMEOUT_MS,
    azureApiVersion: config.OPENAI_API_VERSION,
    markKey: markKeyOf(config),
  })
  const budget = createJudgeBudget({
    pool,
    capUsd: config.JUDGE_MAX_USD_PER_PERIOD ?? null,
    leaseMs: 2 * config.JUDGE_TIMEOUT_MS + leaseBeyondTimeoutMs,
    clock,
  })
  const limits = {
    concurrency: config.JUDGE_CONCURRENCY,
    requestsPerMinute: config.JUDGE_REQUESTS_PER_MINUTE ?? null,
    tokensPerMinute: config.JUDGE_TOKENS_PER_MINUTE ?? null,
  }
  return createJudge({ ask, model, price, budget, ...limits, metrics, log, clock })
}

/** Null: there is no secret to sign marks with, so none are made or accepted. */
export function markKeyOf({ JUDGE_MARK_SECRET, OPENAI_API_KEY }: ScorerConfig): string | null {
  return JUDGE_MARK_SECRET ?? OPENAI_API_KEY ?? null
}

function priceOf(config: ScorerConfig): JudgePrice | null {
  const { JUDGE_INPUT_USD_PER_MILLION: input, JUDGE_OUTPUT_USD_PER_MILLION: output } = config
  return input === undefined || output === undefined
    ? readJudgePrice(priceList, config.SCORER_MODEL)
    : { input, cachedInput: input, output }
}
