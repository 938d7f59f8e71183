import type { CallDescription } from './describe-call.ts'
import { imageToolIn, type UsageBeside } from './image-tool.ts'
import type { PriceTable } from './price-table.ts'
import { statedCostOf } from './stated-cost.ts'
import type { TokenCounts } from './token-cost.ts'
import { adviceIn, usageOf, type TokenUsage } from './usage.ts'

interface PricedCall {
  model: string
  provider: string | null
  tokens: TokenCounts
  described: Pick<
    CallDescription,
    'advice' | 'statedCost' | 'serviceTier' | 'inferenceGeo' | 'hostedUses' | 'isBrokenOff'
  >
}

/**
 * US dollars: what the answer says, else by the price table, with the models that were asked on the way and
 * the tools that the provider ran. Null when one of these is unknown, or the answer broke off uncounted.
 */
export function costOfCall(
  { model, provider, tokens, described }: PricedCall,
  prices: PriceTable,
): number | null {
  if (described.statedCost !== null) return described.statedCost
  // What was generated till then is paid for, and nobody has counted it: the prompt's price would pass for
  // all.
  if (described.isBrokenOff && tokens.completion_tokens === null) return null
  const { serviceTier, inferenceGeo, hostedUses: uses } = described
  const costs = [
    prices.costOf({ model, provider, serviceTier, inferenceGeo, uses }, tokens),
    ...described.advice.map((asked) =>
      prices.costOf({ model: asked.model, provider, inferenceGeo }, countsOf(asked.usage)),
    ),
  ]
  const sum = costs.reduce((all, cost) => (all === null || cost === null ? null : all + cost), 0)
  return sum === null ? null : Number(sum.toFixed(11))
}

export function countsOf(usage: UsageBeside['usage']): TokenCounts {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    cached_tokens: usage.cachedTokens,
    reasoning_tokens: usage.reasoningTokens,
    written_tokens: usage.writtenTokens,
    written_hour_tokens: usage.writtenHourTokens,
    parts: usage.tokenParts,
  }
}

/**
 * What a record may say of the tokens of an answer that does not stand in it whole. Nothing where other
 * models were asked and nobody says what that cost: the price of the rest would be taken for that of the
 * call, and no tokens have none.
 */
export function usageBeside(answer: unknown): TokenUsage {
  const isAlone = adviceIn(answer).length === 0 && imageToolIn(undefined, answer).length === 0
  const isPriced = isAlone || statedCostOf(answer) !== null
  return usageOf(isPriced ? answer : undefined)
}
