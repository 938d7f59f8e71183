import { absent } from './format-number.ts'

/** In the browser's locale and zone. */
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const brief = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
const ofAnotherYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const hour = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const ago = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

const halfYearMs = 182 * 86_400_000

type Time = string | null | undefined

function orAbsent(time: Time, format: (at: Date) => string): string {
  return time === null || time === undefined ? absent : format(new Date(time))
}

/** With the zone: for titles, and where the exact moment matters. */
export function formatMoment(time: Time): string {
  return orAbsent(time, (at) => full.format(at))
}

/** For tables. Includes the year if it is not the current one: a key may expire next 1 December. */
export function formatTime(time: Time, nowMs = Date.now()): string {
  return orAbsent(time, (at) =>
    (Math.abs(at.getTime() - nowMs) > halfYearMs ? ofAnotherYear : brief).format(at),
  )
}

/** For a chart's axis: only the day if points are days, which are UTC days. */
export function formatPoint(time: string, stepHours: number): string {
  const at = new Date(time)
  const isOfDays = stepHours >= 24 && at.getHours() === 0 && at.getMinutes() === 0
  return (isOfDays ? day : hour).format(at)
}

/** Reports count whole hours: a range that ends now extends to the end of the hour. */
export function formatCounted({ start, end }: { start: string; end: string }, endsNow: boolean): string {
  return endsNow ? `since ${hour.format(new Date(start))}` : hour.formatRange(new Date(start), new Date(end))
}

/** A chosen range; either end may be open. */
export function formatRange({
  start,
  end,
}: {
  start?: string | undefined
  end?: string | undefined
}): string {
  if (start !== undefined && end !== undefined) return hour.formatRange(new Date(start), new Date(end))
  return end === undefined ? `since ${formatHour(start)}` : `until ${formatHour(end)}`
}

function formatHour(time: Time): string {
  return orAbsent(time, (at) => hour.format(at))
}

export function formatDay(time: Time): string {
  return orAbsent(time, (at) => day.format(at))
}

/** "3 min. ago", or the date after 30 days. */
export function formatAgo(time: Time, nowMs: number): string {
  return orAbsent(time, (at) => {
    const passedMs = at.getTime() - nowMs
    if (Math.abs(passedMs) > 30 * 86_400_000) return day.format(at)
    const [unit, ms] = steps.find(([, length]) => Math.abs(passedMs) >= length) ?? ['second', 1_000]
    return ago.format(Math.round(passedMs / ms), unit)
  })
}
