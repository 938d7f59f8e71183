/** A calendar month in the browser's zone, as times of an address. `offset`: months from that of `nowMs`. */
export function monthRange(nowMs: number, offset: number): { start: string; end: string } {
  const now = new Date(nowMs)
  const first = (months: number) => new Date(now.getFullYear(), now.getMonth() + months, 1).toISOString()
  return { start: first(offset), end: first(offset + 1) }
}

/**
 * Start of the month before a range that is a month, so that months are compared although one is longer.
 * Undefined: it is none.
 */
export function monthBefore(start: string | undefined, end: string | undefined): string | undefined {
  if (start === undefined || end === undefined) return undefined
  const month = monthRange(Date.parse(start), 0)
  const isMonth = month.start === start && month.end === end
  return isMonth ? monthRange(Date.parse(start), -1).start : undefined
}
