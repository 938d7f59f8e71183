import { createHash } from 'node:crypto'
import type { CallContext } from '#schemas/call-context.ts'

/** Sums of one series of a project in one hour or minute, added to its row. */
export interface RollupRow {
  projectUuid: string
  /** Start of the hour or minute of the calls, Unix milliseconds. */
  startMs: number
  /** Hash of the series' dimensions: names can be longer than an index takes. */
  series: string
  isOther: boolean
  dimensions: Readonly<Record<string, string | null>>
  sums: Record<string, number | bigint>
  /** The time of the latest call, Unix milliseconds. */
  lastAtMs: number
}

/** The dimensions that all counts of calls have. */
export function dimensionsOf({ source, model, provider, agent_name }: Pick<CallContext, PlainDimension>) {
  return { source, model, provider, agent_name }
}
export const userDimensionsOf = ({ source, user_id }: Pick<CallContext, 'source' | 'user_id'>) => ({
  source,
  user_id,
})
type PlainDimension = 'source' | 'model' | 'provider' | 'agent_name'

const hourLengthMs = 3_600_000
export const minuteLengthMs = 60_000
/** What ingest takes of a name at most; records that did not come by ingest may hold more. */
const longestName = 256

export interface Tally {
  /** The sums that a call or score of that time and those dimensions adds to. */
  sumsOf(projectUuid: string, timeMs: number, dimensions: RollupRow['dimensions']): RollupRow['sums']
  /** In the order of their keys, in which everybody locks them. */
  rows(): RollupRow[]
}

/** Gathers sums by project, dimensions and step of time: hours unless `stepMs` says otherwise. */
export function createTally(stepMs = hourLengthMs): Tally {
  const rows = new Map<string, RollupRow>()
  return {
    sumsOf(projectUuid, timeMs, dimensions) {
      const startMs = timeMs - (timeMs % stepMs)
      const key = `${projectUuid}${startMs}${JSON.stringify(Object.values(dimensions))}`
      let row = rows.get(key)
      if (row === undefined) {
        row = { projectUuid, startMs, ...nameSeries(dimensions), sums: {}, lastAtMs: timeMs }
        rows.set(key, row)
      }
      row.lastAtMs = Math.max(row.lastAtMs, timeMs)
      return row.sums
    },
    rows: () => mergeRows([...rows.values()]),
  }
}

/** The row as part of the series with these dimensions alone. */
export function asCoarser(row: RollupRow, kept: readonly string[]): RollupRow {
  return { ...row, ...nameSeries(onlyDimensions(row, kept)) }
}

/** The row as part of the one for series beyond the bound; it keeps only the dimensions that stay few. */
export function asOther(row: RollupRow, kept: readonly string[]): RollupRow {
  const dimensions = onlyDimensions(row, kept)
  return { ...row, dimensions, isOther: true, series: hashSeries(['other', dimensions]) }
}

function onlyDimensions({ dimensions }: RollupRow, kept: readonly string[]): RollupRow['dimensions'] {
  return Object.fromEntries(
    Object.entries(dimensions).map(([name, value]) => [name, kept.includes(name) ? value : null]),
  )
}

/** Adds up rows of the same key; in the order of their keys. */
export function mergeRows(rows: readonly RollupRow[]): RollupRow[] {
  const merged = new Map<string, RollupRow>()
  for (const row of rows) {
    const key = `${row.projectUuid}/${String(row.startMs).padStart(15, '0')}/${row.series}`
    const before = merged.get(key)
    if (before === undefined) merged.set(key, { ...row, sums: { ...row.sums } })
    else {
      for (const [name, value] of Object.entries(row.sums)) addTo(before.sums, name, value)
      before.lastAtMs = Math.max(before.lastAtMs, row.lastAtMs)
    }
  }
  return [...merged].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
}

/** Adds to a sum; what can grow beyond 2^53 is added as bigint. */
export function addTo(sums: RollupRow['sums'], name: string, value: number | bigint): void {
  const before = sums[name]
  if (before === undefined) sums[name] = value
  else sums[name] = typeof before === 'bigint' ? before + BigInt(value) : before + Number(value)
}

/** A name as its series has it. */
export const countedName = (name: string) => name.slice(0, longestName).toWellFormed()

function nameSeries(dimensions: RollupRow['dimensions']) {
  const cut = Object.fromEntries(
    Object.entries(dimensions).map(([name, value]) => [name, value === null ? null : countedName(value)]),
  )
  return { series: hashSeries(['series', cut]), isOther: false, dimensions: cut }
}

function hashSeries(parts: unknown): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}
