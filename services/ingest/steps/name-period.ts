const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** Of a quota, for people: `for November 2026`. A subscription's period begins on any day, and is no month's. */
export function namePeriod(startMs: number): string {
  const start = new Date(startMs)
  const isMonth = startMs === Date.UTC(start.getUTCFullYear(), start.getUTCMonth())
  return isMonth ? `for ${monthName.format(start)}` : `since ${start.toISOString()}`
}
