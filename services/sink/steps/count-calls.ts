import { hasLabel, type CallLabels } from '#schemas/call-labels.ts'
import { latencyBucketOf, latencyColumn } from '#schemas/latency-buckets.ts'
import type { PlacedCall } from './place-call.ts'
import {
  addTo,
  createTally,
  dimensionsOf,
  minuteLengthMs,
  userDimensionsOf,
  type RollupRow,
  type Tally,
} from './tally-rollups.ts'

interface CountedCalls {
  calls: RollupRow[]
  minutes: RollupRow[]
  labels: RollupRow[]
  tools: RollupRow[]
  users: RollupRow[]
}

/** What new calls add to `call_rollups`, `call_minutes` and the roll-ups by label, tool and user. */
export function countCalls(
  newCalls: readonly PlacedCall[],
  labelsOf: (call: PlacedCall) => CallLabels,
): CountedCalls {
  const calls = createTally()
  const minutes = createTally(minuteLengthMs)
  const labels = createTally()
  const tools = createTally()
  const users = createTally()
  for (const placed of newCalls) {
    const plain = dimensionsOf(placed.call)
    const own = labelsOf(placed)
    const labelled = { ...plain, ...own }
    countCall(calls, placed, plain)
    countCall(minutes, placed, labelled)
    if (hasLabel(own)) countCall(labels, placed, labelled)
    countTools(tools, placed)
    if (placed.call.user_id !== null) countCall(users, placed, userDimensionsOf(placed.call))
  }
  return {
    calls: calls.rows(),
    minutes: minutes.rows(),
    labels: labels.rows(),
    tools: tools.rows(),
    users: users.rows(),
  }
}

function countCall(
  tally: Tally,
  { call, projectUuid, createdAtMs }: PlacedCall,
  dimensions: RollupRow['dimensions'],
): void {
  const sums = tally.sumsOf(projectUuid, createdAtMs, dimensions)
  addTo(sums, 'calls', 1)
  if (hasFailed(placedStatus(call), call.error)) addTo(sums, 'failed', 1)
  if (call.aborted_by !== null) addTo(sums, 'aborted', 1)
  const statusClass = Math.floor(placedStatus(call) / 100)
  if (statusClass >= 2 && statusClass <= 5) addTo(sums, `status_${statusClass}xx`, 1)
  for (const name of ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'] as const) {
    const tokens = call[name]
    if (tokens !== null) addTo(sums, name, BigInt(tokens))
  }
  if (call.cost_usd !== null && Number.isFinite(call.cost_usd)) {
    addTo(sums, 'priced', 1)
    addTo(sums, 'cost_picodollars', picodollarsOf(call.cost_usd))
  }
  if (call.latency_ms !== null) addTo(sums, latencyColumn(latencyBucketOf(call.latency_ms)), 1)
}

/** Integers add up the same in any order, unlike floats. Rounded as `floor(cost_usd * 1e12 + 0.5)` in SQL. */
function picodollarsOf(costUsd: number): bigint {
  const picodollars = Math.floor(costUsd * 1e12 + 0.5)
  return Number.isFinite(picodollars) ? BigInt(picodollars) : 0n
}

function countTools(tally: Tally, { call, projectUuid, createdAtMs }: PlacedCall): void {
  const { source, agent_name, tool_name } = call
  for (const name of new Set(tool_name === null ? call.tool_names : [tool_name, ...call.tool_names])) {
    const sums = tally.sumsOf(projectUuid, createdAtMs, { source, tool_name: name, agent_name })
    // A record of the tool call itself, or an answer that asks for it: both belong to one call if both are
    // logged.
    addTo(sums, name === tool_name ? 'calls' : 'requested', 1)
    if (name === tool_name && hasFailed(placedStatus(call), call.error)) addTo(sums, 'failed', 1)
  }
}

const placedStatus = ({ status_code }: { status_code: number | null }) => status_code ?? 0

function hasFailed(status: number, error: string | null): boolean {
  return error !== null || status >= 400
}
