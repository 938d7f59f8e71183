import type { Conditions } from './conditions.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

const dayMs = 86_400_000

export type RollupName = 'call_rollups' | 'score_rollups' | 'tool_rollups'

/** Whole hours, Unix milliseconds. */
export interface HourRange {
  startMs: number
  endMs: number
}

/**
 * The rows `t` of a roll-up in a range of hours: of whole days that have been counted from the roll-up by the day, whose rows are a twentieth, and of
 * the rest by the hour. `hour` is then the midnight or the hour. What has come since its day was counted lies in lanes and is read beside it.
 */
export async function rollupRows(
  database: ProjectDatabase<OneProject>,
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

/** The same rows by the hour alone, for series whose steps are shorter than a day. */
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
