import { labelColumns } from '#schemas/call-labels.ts'
import { latencyBucketCount, latencyColumn } from '#schemas/latency-buckets.ts'

/** A table of sums by hour or minute: docs/decisions/0006. */
export interface RollupTable {
  name:
    | ('call_rollups' | 'score_rollups' | 'tool_rollups' | 'verdict_rollups')
    | ('label_rollups' | 'user_rollups')
    | ('call_minutes' | 'score_minutes')
  timeColumn: 'hour' | 'minute'
  dimensions: readonly string[]
  /** The dimension by whose values people look: each keeps a series of its own as long as there is room. */
  names: string
  /** Dimensions with few values, which rows beyond the bound keep. */
  keptInOther: readonly string[]
  sums: readonly string[]
  /** Sums that are null where nothing was counted: a row of mostly empty buckets is a third as wide. */
  sparseSums: readonly string[]
  hasLastAt: boolean
  /** Limit of series counted apart: of a project and hour in one lane and after folding, and of a day. */
  maxSeries: number
  /** What a series beyond the bound keeps while there is room for `maxSeries` such ones; absent: nothing. */
  coarser?: { dimensions: readonly string[]; maxSeries: number }
}

export const callRollups: RollupTable = {
  name: 'call_rollups',
  timeColumn: 'hour',
  dimensions: ['source', 'model', 'provider', 'agent_name'],
  names: 'agent_name',
  keptInOther: ['source'],
  sums: [
    ...['calls', 'failed', 'aborted', 'status_2xx', 'status_3xx', 'status_4xx', 'status_5xx'],
    ...[
      'prompt_tokens',
      'completion_tokens',
      'cached_tokens',
      'reasoning_tokens',
      'priced',
      'cost_picodollars',
    ],
    ...['verdict_safe', 'verdict_unscored', 'verdict_unsafe'],
    ...['severity_medium', 'severity_high', 'severity_critical'],
  ],
  sparseSums: Array.from({ length: latencyBucketCount }, (_, bucket) => latencyColumn(bucket)),
  hasLastAt: false,
  maxSeries: 300,
}

export const scoreRollups: RollupTable = {
  name: 'score_rollups',
  timeColumn: 'hour',
  dimensions: ['run_id', 'source', 'scorer_name', 'score_label', 'severity'],
  names: 'scorer_name',
  keptInOther: ['run_id', 'source', 'score_label', 'severity'],
  sums: ['scores', 'valued', 'value_micros'],
  sparseSums: [],
  hasLastAt: false,
  // The operator names scorers and runs, not the senders of calls.
  maxSeries: 3_000,
}

export const toolRollups: RollupTable = {
  name: 'tool_rollups',
  timeColumn: 'hour',
  dimensions: ['source', 'tool_name', 'agent_name'],
  names: 'tool_name',
  keptInOther: ['source'],
  sums: ['calls', 'failed', 'requested'],
  sparseSums: [],
  hasLastAt: true,
  maxSeries: 300,
}

/** Calls by what their scores say together; decided and applicable scores are summed over them. */
export const verdictRollups: RollupTable = {
  name: 'verdict_rollups',
  timeColumn: 'hour',
  dimensions: ['source', 'model', 'provider', 'agent_name', 'verdict'],
  names: 'agent_name',
  keptInOther: ['source', 'verdict'],
  sums: ['calls', 'decided', 'applicable'],
  sparseSums: [],
  hasLastAt: false,
  // Four verdicts of as many series as there are of calls.
  maxSeries: 1_200,
}

const labels = ['tool_name', ...labelColumns]

const labelledSums = [
  ...['calls', 'failed', 'prompt_tokens', 'completion_tokens', 'cost_picodollars'],
  ...['verdict_safe', 'verdict_unscored', 'verdict_unsafe', 'severity_high', 'severity_critical'],
  ...['readings', 'not_read'],
]

/** Calls with a tool or a declared metadata key (docs/decisions/0099). */
export const labelRollups: RollupTable = {
  name: 'label_rollups',
  timeColumn: 'hour',
  dimensions: [...callRollups.dimensions, ...labels],
  names: 'label_1',
  keptInOther: ['source'],
  sums: [...labelledSums, 'priced', 'cached_tokens', 'reasoning_tokens'],
  sparseSums: callRollups.sparseSums,
  hasLastAt: false,
  maxSeries: 1_000,
}

/** Calls with a user (docs/decisions/0117). */
export const userRollups: RollupTable = {
  name: 'user_rollups',
  timeColumn: 'hour',
  dimensions: ['source', 'user_id'],
  names: 'user_id',
  keptInOther: ['source'],
  sums: [
    ...['calls', 'failed', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'],
    ...['priced', 'cost_picodollars', 'verdict_safe', 'verdict_unscored', 'verdict_unsafe'],
  ],
  sparseSums: callRollups.sparseSums,
  hasLastAt: true,
  maxSeries: 1_000,
}

/** Minutes are neither folded nor counted by the day: they carry alert rules and go after two days. */
export const callMinutes: RollupTable = {
  ...labelRollups,
  name: 'call_minutes',
  timeColumn: 'minute',
  sums: labelledSums,
  coarser: { dimensions: callRollups.dimensions, maxSeries: callRollups.maxSeries },
}

/** Scores of the live run. The label of an unsafe score that a suppression covers is `suppressed`. */
export const scoreMinutes: RollupTable = {
  name: 'score_minutes',
  timeColumn: 'minute',
  dimensions: ['source', 'scorer_name', 'score_label', 'severity'],
  names: 'scorer_name',
  keptInOther: ['source', 'score_label', 'severity'],
  sums: ['scores'],
  sparseSums: [],
  hasLastAt: false,
  maxSeries: 3_000,
}

export const minuteTables: readonly RollupTable[] = [callMinutes, scoreMinutes]

/** The hourly ones. */
export const rollupTables: readonly RollupTable[] = [
  ...[callRollups, scoreRollups, toolRollups],
  ...[verdictRollups, labelRollups, userRollups],
]

/** The lane of rows that have been folded into one a series. */
export const foldedLane = -1

/** The lane of what changes in hours long past; folded as the others are. No partition has it. */
export const changesLane = 2 ** 31 - 1

/** The same counts by the day: `hour` is its midnight, UTC. Of which days, `rollup_days` says. */
export function dayTableOf({ name }: RollupTable): string {
  return `${name}_by_day`
}

/**
 * The lane that counts a partition's records. One sink at a time holds a partition, so no two add to one row.
 * The three counted topics have their own lanes.
 */
export function laneOf(topic: 'kept' | 'ephemeral' | 'scores', partition: number): number {
  return partition * 3 + { kept: 0, ephemeral: 1, scores: 2 }[topic]
}

export function columnsOf(table: RollupTable): string[] {
  return [
    ...['project_id', table.timeColumn, 'series', 'lane', 'is_other'],
    ...table.dimensions,
    ...table.sums,
    ...table.sparseSums,
    ...(table.hasLastAt ? ['last_at'] : []),
  ]
}
