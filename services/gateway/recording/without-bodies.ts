import { codeOfError } from '#capture/error-code.ts'
import { fieldAt, objectOf, parseJson } from '#capture/json.ts'
import { projectNamedBy } from '../delivery/route-records.ts'
import type { StripBodies } from '../spool/erase-bodies.ts'
import { derivedFields } from '#capture/record/derived-fields.ts'

/**
 * Replaces the bodies of a record by the fields that ingest would derive from them, and sets `bodies_erased`.
 * An error, which may quote them, becomes its code. For zero content retention. Undefined if the record is
 * not JSON, or has more parts than ingest accepts.
 */
export function withoutBodies(record: Buffer): Buffer | undefined {
  const whole = objectOf(parseJson(record.toString('utf8')))
  if (whole === undefined) return undefined
  const derived = derivedFields(fieldAt(whole, 'request_body'), fieldAt(whole, 'response_body') ?? null)
  const filled = Object.entries(derived).map(([name, value]) => [name, fieldAt(whole, name) ?? value])
  // JSON omits undefined fields. The order stays, as readers find the project at the start.
  const error = typeof whole['error'] === 'string' ? codeOfError(whole['error']) : whole['error']
  const gone = { error, request_body: undefined, response_body: undefined, bodies_erased: true }
  return Buffer.from(JSON.stringify({ ...whole, ...Object.fromEntries(filled), ...gone }))
}

/**
 * What may remain of a record after an hour. A record without a project was written before the gateway's own
 * project was known; its bodies stay if that project keeps content.
 */
export function createStripBodies(own: (() => Kept | undefined) | undefined): StripBodies {
  return (record) => {
    const isKept = projectNamedBy(record) === undefined && own?.()?.isEphemeral === false
    return isKept ? record : withoutBodies(record)
  }
}

interface Kept {
  isEphemeral: boolean
}
