import { isId } from '#schemas/ids.ts'
import { invalidInput } from '#http/problem.ts'

/**
 * The position of a delivery in its webhook's log. Includes its time, because the delivery may be deleted
 * before the next page.
 */
export interface ReplayPosition {
  /** Unix microseconds, the resolution of Postgres. */
  createdAtMicros: string
  deliveryId: string
}

const pattern = /^(\d{1,16})~(.*)$/

export function writeReplayCursor({ createdAtMicros, deliveryId }: ReplayPosition): string {
  return Buffer.from(`${createdAtMicros}~${deliveryId}`).toString('base64url')
}

/** Throws 422 unless it is a `next_cursor` of a replay. */
export function readReplayCursor(cursor: string): ReplayPosition {
  const [, createdAtMicros, deliveryId] = pattern.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (createdAtMicros === undefined || deliveryId === undefined || !isId('delivery', deliveryId)) {
    throw invalidInput([{ path: 'cursor', message: 'is not a next_cursor of this replay' }])
  }
  return { createdAtMicros, deliveryId }
}
