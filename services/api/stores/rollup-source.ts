import type { Conditions } from './conditions.ts'
import type { ProjectDatabase } from './project-database.ts'

const dayMs = 86_400_000

export type RollupName =
  ('call_rollups' | 'score_rollups' | 'tool_rollups' | 'verdict_rollups') | ('label_rollups' | 'user_rollups')

/** Whole hours, Unix milliseconds. */
export interface HourRange {
  startMs: number
  endMs: number
}

/**
 * The rows `t` of a roll-up in a range of hours. Counted whole days come from the daily roll-up, which has a
 * twentieth of the rows, the rest from the hourly one; `hour` is the midnight or the hour. Later additions to
 * a counted day are in lanes and are added.
 */
export async function rollupRows(
  database: ProjectDatabase,
  rollup: RollupName,
  { startMs, endMs }: HourRange,
  conditions: Conditions,
): Promise<string> {
  const fromMs = Math.ceil(startMs / dayMs) * dayMs
  const toMs = Math.min(Math.floor(endMs / dayMs) * dayMs, await database.countedUntil(rollup))
  if (fromMs >= toMs) return hourlyRows(rollup, { startMs, endMs }, conditions)
  const within = (table: string, from: number, to: number) => selectRows(table, from, to, conditions)
  const parts = [
    within(`${rollup}_by_day`, fromMs, toMs),
    `${within(rollup, fromMs, toMs)} and lane >= 0`,
    ...(startMs < fromMs ? [within(rollup, startMs, fromMs)] : []),
    ...(toMs < endMs ? [within(rollup, toMs, endMs)] : []),
  ]
  return `(${parts.join(' union all ')}) t`
}

/** The same rows by the hour, for series with shorter steps than a day. */
export function hourlyRows(
  rollup: RollupName,
  { startMs, endMs }: HourRange,
  conditions: Conditions,
): string {
  return `(${selectRows(rollup, startMs, endMs, conditions)}) t`
}

function selectRows(table: string, fromMs: number, toMs: number, conditions: Conditions): string {
  return `select * from ${table} where hour >= ${conditions.bind(new Date(fromMs))} and hour < ${conditions.bind(new Date(toMs))}`
}
