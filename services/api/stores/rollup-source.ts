import type { Conditions } from './conditions.ts'

const dayMs = 86_400_000

type RollupTable = 'call_rollups' | 'score_rollups' | 'tool_rollups'

export interface HourRange {
  /** Whole hours, Unix milliseconds. */
  startMs: number
  endMs: number
}

/**
 * The rows `t` of a roll-up in a range of hours: of whole days that are over from the roll-up by the day, whose rows are a twentieth, and of the
 * rest by the hour. `hour` is then the midnight or the hour. What has come since the day was counted lies in lanes and is read beside it.
 */
export function rollupRows(
  table: RollupTable,
  { startMs, endMs }: HourRange,
  conditions: Conditions,
): string {
  const [firstDayMs, endDayMs] = [Math.ceil(startMs / dayMs) * dayMs, Math.floor(endMs / dayMs) * dayMs]
  if (firstDayMs >= endDayMs) return hourlyRows(table, { startMs, endMs }, conditions)
  const bind = (ms: number) => conditions.bind(new Date(ms))
  const [start, end] = [bind(startMs), bind(endMs)]
  const firstDay = `${bind(firstDayMs)}::timestamptz`
  const counted = `(select counted_until from rollup_days where name = '${table}')`
  // Not before the first day: then nothing is read by the day, and the hours from there on follow.
  const until = `greatest(${firstDay}, least(${bind(endDayMs)}::timestamptz, coalesce(${counted}, '-infinity')))`
  return `(
    select * from ${table}_by_day where hour >= ${firstDay} and hour < ${until}
    union all select * from ${table} where hour >= ${firstDay} and hour < ${until} and lane >= 0
    union all select * from ${table} where hour >= ${start} and hour < ${firstDay}
    union all select * from ${table} where hour >= ${until} and hour < ${end}
  ) t`
}

/** The same rows by the hour alone, for series whose steps are shorter than a day. */
export function hourlyRows(
  table: RollupTable,
  { startMs, endMs }: HourRange,
  conditions: Conditions,
): string {
  const [start, end] = [conditions.bind(new Date(startMs)), conditions.bind(new Date(endMs))]
  return `(select * from ${table} where hour >= ${start} and hour < ${end}) t`
}
