import { idTimeMs } from '#schemas/ids.ts'
import { maxBodyDepth } from './fits-record.ts'
import type { CallRecord } from './record-schema.ts'
import { scanMembers, type Member } from './scan-json.ts'

/** The original bytes of a record's bodies. */
export interface CallBodies {
  /** Null: erased. */
  requestBody: Buffer | null
  responseBody: Buffer | null
}

/** A fault that the record's schema cannot detect. */
export interface RecordFault {
  path: string
  message: string
}

const dayMs = 86_400_000
const oldestMs = 7 * dayMs
/** Tolerance for a clock that is wrong by an hour, the client's or ingest's. */
export const clientsAheadMs = 2 * 3_600_000

/** Finds the bodies of `record` in its JSON. Without faults it can be published. */
export function readBodies(
  record: CallRecord,
  json: Buffer,
  nowMs: number,
): CallBodies & { faults: readonly RecordFault[] } {
  const members = scanMembers(json)
  const faults = [...idFaults(record, nowMs), ...depthFaults(members)]
  if (record.bodies_erased) return { faults, requestBody: null, responseBody: null }
  return {
    faults,
    requestBody: members.get('request_body')?.bytes ?? Buffer.from('{}'),
    responseBody: isPresent(record.response_body) ? (members.get('response_body')?.bytes ?? null) : null,
  }
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** The identifier contains a time, and partitions exist only around the present. */
function idFaults({ id }: CallRecord, nowMs: number): RecordFault[] {
  if (id === undefined) return []
  const ageMs = nowMs - idTimeMs(id)
  if (ageMs <= oldestMs && ageMs >= -clientsAheadMs) return []
  const time = new Date(idTimeMs(id)).toISOString()
  return [{ path: 'id', message: `its time is ${time}; taken are the last 7 days and the next 2 hours` }]
}

function depthFaults(members: ReadonlyMap<string, Member>): RecordFault[] {
  return ['request_body', 'response_body']
    .filter((name) => (members.get(name)?.depth ?? 0) > maxBodyDepth)
    .map((path) => ({ path, message: `is nested deeper than ${maxBodyDepth} levels` }))
}
