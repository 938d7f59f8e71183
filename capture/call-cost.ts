import type { CallDescription } from './describe-call.ts'
import { imageToolIn, type OtherModelUsage } from './image-tool.ts'
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
 * The cost in US dollars: stated by the answer, or from the price table, including other models and hosted
 * tools. Null when a part is unknown, or when the answer broke off before its count.
 */
export function costOfCall(
  { model, provider, tokens, described }: PricedCall,
  prices: PriceTable,
): number | null {
  if (described.statedCost !== null) return described.statedCost
  // The partial answer is billed but not counted, so the prompt's price would pass for the whole.
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

export function countsOf(usage: OtherModelUsage['usage']): TokenCounts {
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
 * Token usage for a record whose answer is incomplete. Empty when other models were used without a stated
 * cost: otherwise the price of the rest would pass for that of the call.
 */
export function recordableUsage(answer: unknown): TokenUsage {
  const isAlone = adviceIn(answer).length === 0 && imageToolIn(undefined, answer).length === 0
  const isPriced = isAlone || statedCostOf(answer) !== null
  return usageOf(isPriced ? answer : undefined)
}
