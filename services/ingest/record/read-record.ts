import { readBodies, type CallBodies } from '#capture/record/read-bodies.ts'
import { recordSchema, type CallRecord } from '#capture/record/record-schema.ts'
import { invalidInput, Problem } from '../http/problem.ts'
import { validate } from '../http/validate.ts'

/** A record as it came: parsed, and the very bytes. */
export interface RawRecord {
  value: unknown
  bytes: Buffer
}

/** A valid record and the bytes of its bodies. */
export interface ReadRecord extends CallBodies {
  record: CallRecord
}

/** Validates one record. Throws 413 and 422. */
export function readRecord(raw: RawRecord, maxBytes: number, nowMs: number): ReadRecord {
  if (raw.bytes.length > maxBytes) {
    throw new Problem(
      413,
      'RECORD_TOO_LARGE',
      `the record has ${raw.bytes.length} bytes; at most ${maxBytes} are taken`,
    )
  }
  const record = validate(recordSchema, raw.value)
  const { faults, ...bodies } = readBodies(record, raw.bytes, nowMs)
  if (faults.length > 0) throw invalidInput(faults)
  return { record, ...bodies }
}
