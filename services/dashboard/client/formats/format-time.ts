import { absent } from './format-number.ts'
import { nameOfZone, shownZone } from './zone.ts'

// One form wherever the browser is: day before month in letters, 24 hours.
const locale = 'en-GB'
const time = { hour: '2-digit', minute: '2-digit' } as const
const date = { day: 'numeric', month: 'short' } as const
const withYear = { ...date, year: 'numeric' } as const
const options = {
  /** `29 Nov 2026, 14:02:06 CET` */
  full: { ...withYear, ...time, second: '2-digit', timeZoneName: 'short' },
  /** `29 Nov, 14:02:06` */
  brief: { ...date, ...time, second: '2-digit' },
  /** `29 Nov 2026, 14:02` */
  ofAnotherYear: { ...withYear, ...time },
  /** `29 Nov, 14:02` */
  hour: { ...date, ...time },
  /** `29 Nov 2026` */
  day: withYear,
} satisfies Record<string, Intl.DateTimeFormatOptions>
type FormName = keyof typeof options

const made = new Map<string, Intl.DateTimeFormat>()

function formOf(name: FormName): Intl.DateTimeFormat {
  const timeZone = nameOfZone()
  const key = `${name} ${timeZone}`
  const form = made.get(key) ?? new Intl.DateTimeFormat(locale, { ...options[name], timeZone })
  made.set(key, form)
  return form
}

const ago = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })

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
  return orAbsent(time, (at) => formOf('full').format(at))
}

/** For tables. Includes the year if it is not the current one: a key may expire next 1 December. */
export function formatTime(time: Time, nowMs = Date.now()): string {
  return orAbsent(time, (at) =>
    formOf(Math.abs(at.getTime() - nowMs) > halfYearMs ? 'ofAnotherYear' : 'brief').format(at),
  )
}

/** For a chart's axis: only the day if points are days, which are UTC days. */
export function formatPoint(time: string, stepHours: number): string {
  const at = new Date(time)
  const minutes = shownZone() === 'utc' ? at.getTime() / 60_000 : at.getHours() * 60 + at.getMinutes()
  return formOf(stepHours >= 24 && minutes % 1_440 === 0 ? 'day' : 'hour').format(at)
}

/** Reports count whole hours: a range that ends now extends to the end of the hour. */
export function formatCounted({ start, end }: { start: string; end: string }, endsNow: boolean): string {
  return endsNow
    ? `since ${formOf('hour').format(new Date(start))}`
    : formOf('hour').formatRange(new Date(start), new Date(end))
}

/** A chosen range; either end may be open. */
export function formatRange({
  start,
  end,
}: {
  start?: string | undefined
  end?: string | undefined
}): string {
  if (start !== undefined && end !== undefined)
    return formOf('hour').formatRange(new Date(start), new Date(end))
  return end === undefined ? `since ${formatHour(start)}` : `until ${formatHour(end)}`
}

function formatHour(time: Time): string {
  return orAbsent(time, (at) => formOf('hour').format(at))
}

export function formatDay(time: Time): string {
  return orAbsent(time, (at) => formOf('day').format(at))
}

/** "3 min. ago", or the date after 30 days. */
export function formatAgo(time: Time, nowMs: number): string {
  return orAbsent(time, (at) => {
    const passedMs = at.getTime() - nowMs
    if (Math.abs(passedMs) > 30 * 86_400_000) return formOf('day').format(at)
    const [unit, ms] = steps.find(([, length]) => Math.abs(passedMs) >= length) ?? ['second', 1_000]
    return ago.format(Math.round(passedMs / ms), unit)
  })
}
