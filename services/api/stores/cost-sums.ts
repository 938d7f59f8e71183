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
  cost: 'sum(cost_picodollars)',
  calls: 'sum(calls)',
  tokens: `sum(${tokenSums.join(' + ')})`,
  failed: 'sum(failed)',
  unsafe: 'sum(verdict_unsafe)',
} as const
export type CostOrder = keyof typeof costOrders

const bounds = `'{${latencyBounds.join(',')}}'::float8[]`
/** The bucket of a call's latency. */
export const bucketSql = (latency: string) => `width_bucket(${latency}, ${bounds})`

/** The sums over calls `t` with their `bucket` and `worst_label`. */
export const callSums = [
  'count(*) as calls',
  'count(*) filter (where t.has_failed) as failed',
  ...tokenSums.map((name) => `coalesce(sum(t.${name}), 0) as ${name}`),
  'count(t.cost_usd) as priced',
  'coalesce(sum(floor(t.cost_usd * 1e12 + 0.5)::numeric), 0) as cost_picodollars',
  ...['safe', 'unscored', 'unsafe'].map(
    (label) => `count(*) filter (where t.worst_label = '${label}') as verdict_${label}`,
  ),
  ...buckets.map((name, bucket) => `count(*) filter (where t.bucket = ${bucket}) as ${name}`),
].join(', ')
