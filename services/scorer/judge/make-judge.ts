import type { Pool } from 'pg'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import type { ScorerConfig } from '../config.ts'
import type { JudgeEndpoint } from '../judge-endpoints.ts'
import type { ScorerMetrics } from '../scorer-metrics.ts'
import { scorersOfGuard } from '../scoring/judge/guard-categories.ts'
import type { JudgeKind } from '../scoring/judge/judge-kinds.ts'
import { createJudgeBudget } from '../stores/judge-budget.ts'
import { readJudgePrice } from '../stores/read-judge-price.ts'
import { createOpenAiModel } from './ask-openai.ts'
import { createGuardJudge } from './guard-judge.ts'
import type { JudgePrice } from './judge-price.ts'
import { createJudge, type Judge } from './judge.ts'
import { routeJudges } from './route-judges.ts'

/** A request waits for at most one other. A reservation that outlives both and this is a dead process's. */
const leaseBeyondTimeoutMs = 60_000
const priceList = 'infra/prices.json'

/** One model server that judges. */
interface Endpoint {
  baseUrl: string | undefined
  apiKey: string | undefined
  model: string
  kind: JudgeKind
  price: JudgePrice | null
  azureApiVersion: string | undefined
}

/** The configured judges as one, or null. */
export function makeJudge(
  config: ScorerConfig,
  dependencies: ProcessDependencies,
  metrics: ScorerMetrics,
  pool: Pool,
): Judge | null {
  const { log } = dependencies
  const hasMain = config.OPENAI_API_KEY !== undefined || config.OPENAI_BASE_URL !== undefined
  if (!hasMain && config.JUDGE_ENDPOINTS.size === 0) {
    log.warn('no judge configured (OPENAI_API_KEY, OPENAI_BASE_URL): calls that need one stay unscored')
    return null
  }
  const make = (endpoint: Endpoint) => makeOne(endpoint, config, dependencies, metrics, pool)
  return routeJudges({
    byScorer: makeSpecial(config, make),
    others: hasMain ? make(mainEndpoint(config)) : null,
  })
}

/** Scorers with the same endpoint share its judge, and so its requests, limits and breaker. */
function makeSpecial(config: ScorerConfig, make: (endpoint: Endpoint) => Judge): Map<BuiltInScorer, Judge> {
  const made = new Map<string, Judge>()
  const judgeAt = (given: JudgeEndpoint) => {
    const place = JSON.stringify(given)
    const judge = made.get(place) ?? make(specialEndpoint(given, config))
    made.set(place, judge)
    return judge
  }
  return new Map([...config.JUDGE_ENDPOINTS].map(([scorer, given]) => [scorer, judgeAt(given)]))
}

function mainEndpoint(config: ScorerConfig): Endpoint {
  return {
    baseUrl: config.OPENAI_BASE_URL,
    apiKey: config.OPENAI_API_KEY,
    model: config.SCORER_MODEL,
    kind: config.JUDGE_KIND,
    price: priceOf(
      config.SCORER_MODEL,
      config.JUDGE_INPUT_USD_PER_MILLION,
      config.JUDGE_OUTPUT_USD_PER_MILLION,
    ),
    azureApiVersion: config.OPENAI_API_VERSION,
  }
}

function specialEndpoint(given: JudgeEndpoint, { JUDGE_ENDPOINT_KEYS: keys }: ScorerConfig): Endpoint {
  const { base_url: baseUrl, model, kind, key } = given
  return {
    baseUrl,
    apiKey: key === undefined ? undefined : keys.get(key),
    model,
    kind,
    price: priceOf(model, given.input_usd_per_million, given.output_usd_per_million),
    azureApiVersion: undefined,
  }
}

function makeOne(
  endpoint: Endpoint,
  config: ScorerConfig,
  { log, clock }: ProcessDependencies,
  metrics: ScorerMetrics,
  pool: Pool,
): Judge {
  const { model, kind, price, apiKey, baseUrl, azureApiVersion } = endpoint
  if (price === null) {
    log.warn(
      { model },
      'judge price unknown (JUDGE_INPUT_USD_PER_MILLION): projects with a cap are not judged',
    )
  }
  const ask = createOpenAiModel({
    egress: config,
    // Self-hosted servers often need no key, but the client requires one.
    apiKey: apiKey ?? 'none',
    baseUrl,
    model,
    timeoutMs: config.JUDGE_TIMEOUT_MS,
    azureApiVersion,
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
  const options = { ask, model, price, budget, ...limits, metrics, log, clock }
  if (kind === 'json') return createJudge(options)
  log.info({ model, kind, scorers: scorersOfGuard(kind) }, 'guard model judges these scorers at most')
  return createGuardJudge(kind, options)
}

/** Null: there is no secret to sign marks with, so none are made or accepted. */
export function markKeyOf({ JUDGE_MARK_SECRET, OPENAI_API_KEY }: ScorerConfig): string | null {
  return JUDGE_MARK_SECRET ?? OPENAI_API_KEY ?? null
}

function priceOf(model: string, input: number | undefined, output: number | undefined): JudgePrice | null {
  return input === undefined || output === undefined
    ? readJudgePrice(priceList, model)
    : { input, cachedInput: input, output }
}
