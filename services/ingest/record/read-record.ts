import { readCall, type ReadCall } from '#capture/record/describe-record.ts'
import { readBodies, type CallBodies } from '#capture/record/read-bodies.ts'
import { recordSchema } from '#capture/record/record-schema.ts'
import type { TakeTurn } from '#runtime/take-turns.ts'
import { parseJson } from '#http/parse-json.ts'
import { invalidInput, Problem } from '#http/problem.ts'
import { validate } from '#http/validate.ts'

/** A valid record, and the bytes of its bodies. */
export interface ReadRecord extends CallBodies {
  call: ReadCall
}

/**
 * Reads records one by one and keeps none of them parsed. An invalid record is its own result; bytes that are
 * not JSON throw 400.
 */
export async function readRecords(
  records: readonly Buffer[],
  maxBytes: number,
  nowMs: number,
  takeTurn: TakeTurn,
): Promise<(ReadRecord | Problem)[]> {
  const read: (ReadRecord | Problem)[] = []
  for (const record of records) {
    // A single record never waits.
    if (read.length > 0) await takeTurn()
    read.push(readOrProblem(record, maxBytes, nowMs))
  }
  return read
}

export function readOrProblem(json: Buffer, maxBytes: number, nowMs: number): ReadRecord | Problem {
  try {
    return readRecord(json, maxBytes, nowMs)
  } catch (error) {
    if (error instanceof Problem && error.status !== 400) return error
    throw error
  }
}

function readRecord(json: Buffer, maxBytes: number, nowMs: number): ReadRecord {
  if (json.length > maxBytes) {
    throw new Problem(
      413,
      'RECORD_TOO_LARGE',
      `the record has ${json.length} bytes; at most ${maxBytes} are taken`,
    )
  }
  const record = validate(recordSchema, parseJson(json))
  const { faults, ...bodies } = readBodies(record, json, nowMs)
  if (faults.length > 0) throw invalidInput(faults)
  return { call: readCall(record), ...bodies }
}
