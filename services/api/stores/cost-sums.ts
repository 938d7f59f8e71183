import { latencyBounds, latencyBucketCount, latencyColumn } from '#schemas/latency-buckets.ts'

export const buckets = Array.from({ length: latencyBucketCount }, (_, bucket) => latencyColumn(bucket))
const tokenSums = ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens']

/** What roll-ups and calls are both summed by. */
export const plainSums = [
  ...['calls', 'failed', ...tokenSums, 'priced', 'cost_picodollars'],
  ...['verdict_safe', 'verdict_unscored', 'verdict_unsafe'],
]
export const costSums: readonly string[] = [...plainSums, ...buckets]

/** By what groups are ordered, the largest first. */
export const costOrders = {
  cost: ['cost_picodollars'],
  calls: ['calls'],
  tokens: tokenSums,
  failed: ['failed'],
  unsafe: ['verdict_unsafe'],
} as const
export type CostOrder = keyof typeof costOrders

/** SQL of a sum by its name, over rows `t`. */
export type SumSql = (name: string) => string

/** Tokens and cost are what clients say and may exceed 64 bits. The others are added faster as bigint. */
const mayExceed = new Set([...tokenSums, 'cost_picodollars'])

/** Over rows of a roll-up, or over sums by group. */
export const rollupSum: SumSql = (name) =>
  mayExceed.has(name) ? `sum(t.${name})` : `coalesce(sum(t.${name}), 0)::bigint`

const bounds = `'{${latencyBounds.join(',')}}'::float8[]`
/** The bucket of a call's latency. */
export const bucketSql = (latency: string) => `width_bucket(${latency}, ${bounds})`

const callSums = new Map<string, string>([
  ['calls', 'count(*)'],
  ['failed', 'count(*) filter (where t.has_failed)'],
  ...tokenSums.map((name) => [name, `coalesce(sum(t.${name}), 0)`] as const),
  ['priced', 'count(t.cost_usd)'],
  ['cost_picodollars', 'coalesce(sum(floor(t.cost_usd * 1e12 + 0.5)::numeric), 0)'],
  ...['safe', 'unscored', 'unsafe'].map(
    (label) => [`verdict_${label}`, `count(*) filter (where t.worst_label = '${label}')`] as const,
  ),
  ...buckets.map((name, bucket) => [name, `count(*) filter (where t.bucket = ${bucket})`] as const),
])
/** Over calls with their `bucket` and `worst_label`. */
export const callSum: SumSql = (name) => callSums.get(name) ?? 'null'
