import { z } from 'zod'
import { timeField } from '#http/fields.ts'
import { invalidInput } from '#http/problem.ts'

const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** Query parameters of a report over time. */
export const rangeFields = {
  start: timeField.optional().describe('From the start of its hour.'),
  end: timeField.optional().describe('To the end of its hour. Absent: now.'),
}

/** The time range in a report's answer. */
export const countedRangeFields = {
  start: z.iso.datetime().describe('Start of the counted range: the start of the requested hour.'),
  end: z.iso.datetime().describe('End of the counted range: the end of the requested hour.'),
}

export interface TimeRange {
  startMs: number
  endMs: number
}

interface TimeQuery {
  start?: number | undefined
  end?: number | undefined
}

/** Throws 422 for a range that is always empty. */
export function refuseEndBeforeStart({ start, end }: TimeQuery): void {
  if (start !== undefined && end !== undefined && start > end) {
    throw invalidInput([{ path: 'end', message: 'is before start' }])
  }
}

/** Whole hours, the unit of the counts. Throws 422 when the end is before the start. */
export function readRange(query: TimeQuery, nowMs: number, defaultDays: number): TimeRange {
  const end = query.end ?? nowMs
  const start = query.start ?? end - defaultDays * dayMs
  refuseEndBeforeStart({ start, end })
  const startMs = Math.floor(start / hourMs) * hourMs
  return { startMs, endMs: Math.max(Math.ceil(end / hourMs) * hourMs, startMs + hourMs) }
}

/** In the form of `countedRangeFields`. */
export function presentRange({ startMs, endMs }: TimeRange): { start: string; end: string } {
  return { start: new Date(startMs).toISOString(), end: new Date(endMs).toISOString() }
}
