import type { FinishedCall } from './build-record.ts'
import { withoutBodies } from './without-bodies.ts'

/** What is stored of a call's record, by its key: all of it, no bodies, or nothing (null). */
export function keptOf({ caller }: FinishedCall, record: Buffer): Buffer | null {
  const capture = caller.limits?.capture ?? 'full'
  if (capture === 'full') return record
  if (capture === 'none') return null
  const kept = withoutBodies(record)
  if (kept === undefined) throw new Error('a record cannot be stored without its bodies')
  return kept
}
