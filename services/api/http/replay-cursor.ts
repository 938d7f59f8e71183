import { isId } from '#schemas/ids.ts'
import { invalidInput } from '#http/problem.ts'

/** Where a delivery stands in its webhook's log. With its time, because it may be gone before somebody goes on from there. */
export interface ReplayPosition {
  /** Unix microseconds, which Postgres counts in. */
  createdAtMicros: string
  deliveryId: string
}

const pattern = /^(\d{1,16})~(.*)$/

export function writeReplayCursor({ createdAtMicros, deliveryId }: ReplayPosition): string {
  return Buffer.from(`${createdAtMicros}~${deliveryId}`).toString('base64url')
}

/** Throws 422 for what is no `next_cursor` of a replay. */
export function readReplayCursor(cursor: string): ReplayPosition {
  const [, createdAtMicros, deliveryId] = pattern.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (createdAtMicros === undefined || deliveryId === undefined || !isId('delivery', deliveryId)) {
    throw invalidInput([{ path: 'cursor', message: 'is not a next_cursor of this replay' }])
  }
  return { createdAtMicros, deliveryId }
}
