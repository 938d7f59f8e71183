import type { ProjectSettings } from '#http/access/principal.ts'
import type { KeyLimits } from '#schemas/key-limits.ts'
import type { ReadRecord } from '../record/read-record.ts'

/**
 * A record as its key has it recorded: with the key's user and team where it names none, and without its
 * bodies for `metadata`. Null: not at all.
 */
export function applyKeyLimits<R extends ReadRecord & { project: ProjectSettings }>(
  record: R,
  { user, team, capture }: KeyLimits,
): R | null {
  if (capture === 'none') return null
  const { fields } = record.call
  const metadata = team === null ? fields.metadata : { team, ...fields.metadata }
  const call = { ...record.call, fields: { ...fields, user_id: fields.user_id ?? user, metadata } }
  if (capture === 'full') return { ...record, call }
  return {
    ...record,
    call: { ...call, preview: null },
    project: { ...record.project, zeroContentRetention: true },
    requestBody: null,
    responseBody: null,
  }
}
