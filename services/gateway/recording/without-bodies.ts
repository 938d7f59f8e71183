import { codeOfError } from '#capture/error-code.ts'
import { fieldAt, objectOf, parseJson } from '#capture/json.ts'
import { projectNamedBy } from '../delivery/route-records.ts'
import type { StripBodies } from '../spool/erase-bodies.ts'
import { derivedFields } from './derived-fields.ts'

/**
 * A record without its bodies: what ingest would have read from them stands in it, and `bodies_erased` says that they were there; of
 * an error, which may quote them, its kind. For projects that keep no content. Undefined where it is no JSON, or has more
 * parts than ingest takes.
 */
export function withoutBodies(record: Buffer): Buffer | undefined {
  const whole = objectOf(parseJson(record.toString('utf8')))
  if (whole === undefined) return undefined
  const derived = derivedFields(fieldAt(whole, 'request_body'), fieldAt(whole, 'response_body') ?? null)
  const filled = Object.entries(derived).map(([name, value]) => [name, fieldAt(whole, name) ?? value])
  // JSON leaves out what is undefined. The order stays: who reads the start of a record finds its project there.
  const error = typeof whole['error'] === 'string' ? codeOfError(whole['error']) : whole['error']
  const gone = { error, request_body: undefined, response_body: undefined, bodies_erased: true }
  return Buffer.from(JSON.stringify({ ...whole, ...Object.fromEntries(filled), ...gone }))
}

/**
 * What may stay of a record after an hour. One that names no project was written before the API service had said whose the gateway's key is:
 * its bodies stay when that project turns out to keep content.
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
