/**
 * The least and the greatest time of `rows`, of which there is at least one. Bounds that Postgres knows when it plans: a join by time alone is pruned
 * only when it runs, after the partitions of all days have been locked with their indexes.
 */
export function timeBounds<Row>(rows: readonly Row[], timeMsOf: (row: Row) => number): [Date, Date] {
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const row of rows) {
    const timeMs = timeMsOf(row)
    least = Math.min(least, timeMs)
    greatest = Math.max(greatest, timeMs)
  }
  return [new Date(least), new Date(greatest)]
}
