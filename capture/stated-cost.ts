import { fieldAt, textOf } from './json.ts'
import { usageIn } from './usage.ts'

const ticksPerDollar = 10_000_000_000
/** One absurd number must not spoil a project's sums. */
const maxCost = 1_000_000

/** The cost in US dollars stated by the answer: OpenRouter, xAI, Perplexity and Dify do. Null: not stated. */
export function statedCostOf(responseBody: unknown): number | null {
  const usage = usageIn(responseBody)
  const cost = inTicks(usage) ?? withOwnKey(usage) ?? inDollars(usage)
  return cost === undefined || !(cost >= 0 && cost <= maxCost) ? null : Number(cost.toFixed(11))
}

/** xAI */
function inTicks(usage: unknown): number | undefined {
  const ticks = numberAt(usage, 'cost_in_usd_ticks')
  return ticks === undefined ? undefined : ticks / ticksPerDollar
}

/** OpenRouter with the caller's own key: `cost` then holds only its fee. */
function withOwnKey(usage: unknown): number | undefined {
  if (fieldAt(usage, 'is_byok') !== true) return undefined
  return (
    (numberAt(usage, 'cost') ?? NaN) + (numberAt(usage, 'cost_details', 'upstream_inference_cost') ?? NaN)
  )
}

function inDollars(usage: unknown): number | undefined {
  const ofDify = fieldAt(usage, 'currency') === 'USD' ? textOf(fieldAt(usage, 'total_price')) : undefined
  return (
    numberAt(usage, 'cost') ??
    numberAt(usage, 'cost', 'total_cost') ??
    (ofDify === undefined ? undefined : Number(ofDify))
  )
}

function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = fieldAt(value, ...path)
  return typeof found === 'number' ? found : undefined
}
