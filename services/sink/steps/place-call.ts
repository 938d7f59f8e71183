import type { ConsumedRecord } from '#runtime/kafka/records.ts'
import { idTimeMs, idToUuid } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'

/** A call as the store wants it: its keys as Postgres has them, worked out once. */
export interface PlacedCall {
  call: LoggedCall
  offset: bigint
  projectUuid: string
  requestUuid: string
  /** What makes two records the same call. */
  identity: string
  /** The time in its identifier, Unix milliseconds: it decides the partition. */
  createdAtMs: number
}

/** Throws RangeError unless the identifiers have been checked. */
export function placeCall({ value: call, offset }: ConsumedRecord<LoggedCall>): PlacedCall {
  const projectUuid = idToUuid(call.project_id)
  const requestUuid = idToUuid(call.id)
  return {
    call,
    offset,
    projectUuid,
    requestUuid,
    identity: `${projectUuid}/${requestUuid}`,
    createdAtMs: idTimeMs(call.id),
  }
}
