import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createPriceTable, type Price } from '#capture/price-table.ts'

/** What the judge cost for one call, or for several. */
export interface JudgeCost {
  seconds: number
  promptTokens: number
  completionTokens: number
}

export const nothing: JudgeCost = { seconds: 0, promptTokens: 0, completionTokens: 0 }

/** The cost of a row's calls, per 1,000 of them. */
export interface CostPer1000 {
  seconds: number
  tokens: number
  /** Null: the model's price is not known. */
  usd: number | null
}

/** US dollars per million tokens. */
export interface ModelPrice {
  input: number
  output: number
}

/** Seconds are summed over requests that ran side by side. A call that was not asked about costs nothing. */
export function costPer1000(costs: readonly JudgeCost[], price: ModelPrice | null): CostPer1000 {
  const { seconds, promptTokens, completionTokens } = costs.reduce(addCosts, nothing)
  const per1000 = (total: number) => (costs.length === 0 ? 0 : (total / costs.length) * 1_000)
  return {
    seconds: per1000(seconds),
    tokens: per1000(promptTokens + completionTokens),
    usd:
      price === null
        ? null
        : per1000((promptTokens * price.input + completionTokens * price.output) / 1_000_000),
  }
}

export function addCosts(one: JudgeCost, other: JudgeCost): JudgeCost {
  return {
    seconds: one.seconds + other.seconds,
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
  }
}

const million = 1_000_000

/** As in the scorer: both JUDGE_*_USD_PER_MILLION, or else the price list. */
export function priceOf(model: string, environment: NodeJS.ProcessEnv): ModelPrice | null {
  const { JUDGE_INPUT_USD_PER_MILLION: input, JUDGE_OUTPUT_USD_PER_MILLION: output } = environment
  if (input !== undefined && output !== undefined) return { input: Number(input), output: Number(output) }
  const file = path.join(import.meta.dirname, '..', 'infra', 'prices.json')
  const { prices } = JSON.parse(readFileSync(file, 'utf8')) as { prices: Price[] }
  const counts = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 }
  const table = createPriceTable(prices)
  // A thousand tokens: in every model's short-context tier.
  const of = (given: Partial<typeof counts>) =>
    table.costOf({ model, provider: null }, { ...counts, ...given })
  const [read, written] = [of({ prompt_tokens: 1_000 }), of({ completion_tokens: 1_000 })]
  return read === null || written === null
    ? null
    : { input: (read / 1_000) * million, output: (written / 1_000) * million }
}

/** Columns of a report's table. */
export const costColumns = ['s / 1,000 calls', 'tokens / 1,000 calls', '$ / 1,000 calls'] as const

export function costCells(cost: CostPer1000 | undefined): string[] {
  if (cost === undefined) return costColumns.map(() => '–')
  const { seconds, tokens, usd } = cost
  return [seconds.toFixed(0), tokens.toFixed(0), usd === null ? 'price unknown' : usd.toFixed(3)]
}
