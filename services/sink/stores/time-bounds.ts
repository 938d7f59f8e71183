/**
 * The earliest and the latest time of `rows`, which are not empty. With bounds known at planning Postgres
 * skips the other days' partitions; a join by time alone does so only after locking them all.
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
