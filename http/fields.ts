import { z } from 'zod'

/** Fields that records and routes share. */
export { idField, isStorableText, textField } from '#schemas/fields.ts'

const timestampPattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

/** An ISO 8601 date (its start in UTC) or timestamp with a zone, as Unix milliseconds. */
export const timeField = z
  .string()
  .refine(
    (value) => timestampPattern.test(value) && !Number.isNaN(Date.parse(value)) && isInCalendar(value),
    'must be an ISO 8601 date or a timestamp with a zone, like 2026-11-21T09:30:00Z',
  )
  .transform((value) => Date.parse(value))
  .meta({ format: 'date-time' })

/** Whether the day exists: Date.parse takes 30 February for 2 March. */
function isInCalendar(value: string): boolean {
  const day = value.slice(0, 10)
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
}
