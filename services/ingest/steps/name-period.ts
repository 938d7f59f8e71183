const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** A quota's period in words: `for November 2026`. A subscription's period may begin on any day. */
export function namePeriod(startMs: number): string {
  const start = new Date(startMs)
  const isMonth = startMs === Date.UTC(start.getUTCFullYear(), start.getUTCMonth())
  return isMonth ? `for ${monthName.format(start)}` : `since ${start.toISOString()}`
}
