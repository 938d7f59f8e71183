/** Shown for a missing value: unknown is not 0. */
export const absent = '–'

/** In the browser's locale. */
const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })
// One in ten thousand is not zero.
const smallPercent = new Intl.NumberFormat(undefined, { style: 'percent', maximumSignificantDigits: 1 })
const money = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 2,
})
// A call often costs less than a cent.
const smallMoney = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 2,
})
const shortMoney = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  maximumFractionDigits: 1,
})

type Value = number | null | undefined

function orAbsent(value: Value, format: (value: number) => string): string {
  return value === null || value === undefined || Number.isNaN(value) ? absent : format(value)
}

export function formatCount(value: Value): string {
  return orAbsent(value, (known) => whole.format(known))
}

export function formatShort(value: Value): string {
  return orAbsent(value, (known) => (Math.abs(known) < 10_000 ? whole : short).format(known))
}

/** The noun for `count`, which precedes it: call, calls. */
export function nounOf(count: number, one: string): string {
  return count === 1 ? one : `${one}s`
}

/** `part` of `all` as a percentage; absent if `all` is zero. */
export function formatShare(part: Value, all: Value): string {
  return orAbsent(part, (known) =>
    all === null || all === undefined || all === 0 ? absent : formatRatio(known / all),
  )
}

function formatRatio(ratio: number): string {
  return (ratio !== 0 && Math.abs(ratio) < 0.001 ? smallPercent : percent).format(ratio)
}

export function formatUsd(value: Value): string {
  return orAbsent(value, (known) => (known !== 0 && Math.abs(known) < 0.1 ? smallMoney : money).format(known))
}

/** For tight space: no cents from ten thousand on. */
export function formatShortUsd(value: Value): string {
  return orAbsent(value, (known) => (Math.abs(known) < 10_000 ? formatUsd(known) : shortMoney.format(known)))
}

/** 870 ms, 2.4 s, 3 min. */
export function formatDuration(ms: Value): string {
  return orAbsent(ms, (known) => {
    if (known < 1_000) return unit('millisecond', 0, known)
    if (known < 60_000) return unit('second', known < 10_000 ? 1 : 0, known / 1_000)
    return known < 3_600_000 ? unit('minute', 0, known / 60_000) : unit('hour', 1, known / 3_600_000)
  })
}

const byteUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** 512 byte, 4.2 MB: decimal units, as disks are sold. */
export function formatBytes(bytes: Value): string {
  return orAbsent(bytes, (known) => {
    const step = Math.min(byteUnits.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, known)) / 3)))
    return unit(byteUnits[step] ?? 'byte', step === 0 ? 0 : 1, known / 1_000 ** step)
  })
}

const unitFormats = new Map<string, Intl.NumberFormat>()

function unit(name: string, digits: number, value: number): string {
  const key = `${name} ${digits}`
  const format = unitFormats.get(key) ?? unitFormat(name, digits)
  unitFormats.set(key, format)
  return format.format(value)
}

function unitFormat(unit: string, maximumFractionDigits: number): Intl.NumberFormat {
  return new Intl.NumberFormat(undefined, {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits,
  })
}
