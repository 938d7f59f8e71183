import { shownZone } from './zone.ts'

/** A calendar month in the zone of the times shown, for an address. `offset`: months from that of `nowMs`. */
export function monthRange(nowMs: number, offset: number): { start: string; end: string } {
  const now = new Date(nowMs)
  const first = (months: number) =>
    (shownZone() === 'utc'
      ? new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months))
      : new Date(now.getFullYear(), now.getMonth() + months)
    ).toISOString()
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
