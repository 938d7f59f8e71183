import { idTimeMs } from '#schemas/ids.ts'
import { invalidInput, Problem, type FieldError } from '../http/problem.ts'
import { validate } from '../http/validate.ts'
import { recordSchema, type CallRecord } from './record-schema.ts'
import { scanMembers, type Member } from './scan-json.ts'

/** A record as it came: parsed, and the very bytes. */
export interface RawRecord {
  value: unknown
  bytes: Buffer
}

/** A valid record and the bytes of its bodies. */
export interface ReadRecord {
  record: CallRecord
  /** Null: the bodies are erased. */
  requestBody: Buffer | null
  responseBody: Buffer | null
}

const dayMs = 86_400_000
const oldestMs = 7 * dayMs
const newestMs = 10 * 60_000
/** Readers of bodies walk them; nobody sends this deep, and no stack is asked to hold more. */
const maxDepth = 200

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
  const members = scanMembers(raw.bytes)
  const errors = [...idErrors(record, nowMs), ...depthErrors(members)]
  if (errors.length > 0) throw invalidInput(errors)
  if (record.bodies_erased) return { record, requestBody: null, responseBody: null }
  return {
    record,
    requestBody: members.get('request_body')?.bytes ?? Buffer.from('{}'),
    responseBody: isPresent(record.response_body) ? (members.get('response_body')?.bytes ?? null) : null,
  }
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** A record's identifier holds its time, and partitions exist only around now. */
function idErrors({ id }: CallRecord, nowMs: number): FieldError[] {
  if (id === undefined) return []
  const ageMs = nowMs - idTimeMs(id)
  if (ageMs <= oldestMs && ageMs >= -newestMs) return []
  const time = new Date(idTimeMs(id)).toISOString()
  return [{ path: 'id', message: `its time is ${time}; taken are the last 7 days and the next 10 minutes` }]
}

function depthErrors(members: ReadonlyMap<string, Member>): FieldError[] {
  return ['request_body', 'response_body']
    .filter((name) => (members.get(name)?.depth ?? 0) > maxDepth)
    .map((path) => ({ path, message: `is nested deeper than ${maxDepth} levels` }))
}
