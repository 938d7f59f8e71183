import { objectOf, parseJson } from '#capture/json.ts'
import { scanMembers } from '#capture/record/scan-json.ts'
import { maskedPlaces, type MaskedPlace, type MaskedValue } from '#schemas/masked-value.ts'
import { codeOfError } from '#capture/error-code.ts'
import { derivedFields } from '#capture/record/derived-fields.ts'
import type { IdentifierKind } from '../pii/identifier.ts'
import { maskBody, maskText, type MaskFault } from './mask-body.ts'
import { createPlaceholders } from './placeholder.ts'

/**
 * A record of `POST /internal/log` (valid JSON) without what detectors find in its bodies and its error.
 * `masked` says what was there, and that it was masked; what an earlier masker counted stays. Idempotent. A
 * body that cannot be masked becomes `{"truncated":true,"not_masked":…}`, and what it said of model, tokens
 * and cost becomes fields.
 */
export function maskRecord(record: Buffer, key: Buffer): Buffer {
  const counts = createCounts(record)
  const placeholderOf = createPlaceholders(key)
  const masker = (place: MaskedPlace) => ({ place, placeholderOf, count: counts.add })
  const replaced = new Map<string, string>()
  let isDropped = false
  const members = scanMembers(record)
  for (const name of bodyNames) {
    const json = members.get(name)?.bytes.toString('utf8')
    if (json?.startsWith('{') !== true) continue
    const body = maskBody(json, masker(name))
    if ('json' in body) {
      if (body.json !== json) replaced.set(name, body.json)
    } else {
      replaced.set(name, droppedBody(json, body.fault))
      isDropped = true
    }
  }
  const error: unknown = parseJson(members.get('error')?.bytes.toString('utf8') ?? 'null')
  if (typeof error === 'string') {
    // A record takes 8,192 characters; a placeholder may be longer than what it replaces.
    const masked = maskText(error, masker('error')).slice(0, maxErrorUnits)
    if (masked !== error) replaced.set('error', JSON.stringify(masked))
  }
  if (isDropped) for (const [name, json] of derivedOf(record)) replaced.set(name, json)
  replaced.set('masked', JSON.stringify(counts.list()))
  return rewritten(members, replaced)
}

/** The record without its bodies, where masking them took too long or failed. Its error becomes its code. */
export function dropBodies(record: Buffer, fault: MaskFault): Buffer {
  const members = scanMembers(record)
  const replaced = new Map(derivedOf(record))
  for (const name of bodyNames) {
    const json = members.get(name)?.bytes.toString('utf8')
    if (json?.startsWith('{') === true) replaced.set(name, droppedBody(json, fault))
  }
  const error: unknown = parseJson(members.get('error')?.bytes.toString('utf8') ?? 'null')
  if (typeof error === 'string') replaced.set('error', JSON.stringify(codeOfError(error)))
  replaced.set('masked', JSON.stringify(createCounts(record).list()))
  return rewritten(members, replaced)
}

const bodyNames = ['request_body', 'response_body'] as const
const maxErrorUnits = 8_192

/** Marked as `truncated`: no scorer takes it for a whole body. Without a hash: who guesses it could check. */
function droppedBody(json: string, fault: MaskFault): string {
  const { not_masked: earlier, bytes } = objectOf(parseJson(json)) ?? {}
  const isDropped = earlier !== undefined && typeof bytes === 'number'
  const length = isDropped ? bytes : Buffer.byteLength(json)
  return JSON.stringify({ truncated: true, not_masked: fault, bytes: length })
}

/** Fields that the record lacks and its bodies have, as JSON. */
function derivedOf(record: Buffer): [string, string][] {
  const whole = objectOf(parseJson(record.toString('utf8'))) ?? {}
  const derived = derivedFields(whole['request_body'], whole['response_body'] ?? null)
  return Object.entries(derived).flatMap(([name, value]) =>
    value === undefined || value === null || (whole[name] ?? null) !== null
      ? []
      : [[name, JSON.stringify(value)] as [string, string]],
  )
}

/** Every member's bytes as they stand, in their order. */
function rewritten(
  members: ReadonlyMap<string, { bytes: Buffer }>,
  replaced: ReadonlyMap<string, string>,
): Buffer {
  const parts: Buffer[] = []
  const add = (name: string, value: Buffer) =>
    parts.push(Buffer.from(`${parts.length === 0 ? '{' : ','}${JSON.stringify(name)}:`), value)
  for (const [name, { bytes }] of members) {
    const own = replaced.get(name)
    add(name, own === undefined ? bytes : Buffer.from(own))
  }
  for (const [name, json] of replaced) if (!members.has(name)) add(name, Buffer.from(json))
  return Buffer.concat([...parts, Buffer.from('}')])
}

/** Counts by kind and place, beginning with those that the record has. */
function createCounts(record: Buffer) {
  const counts = new Map<string, MaskedValue>()
  const add = (kind: string, place: MaskedPlace, times = 1) => {
    const known = counts.get(`${kind} ${place}`)
    counts.set(`${kind} ${place}`, { kind, place, count: (known?.count ?? 0) + times })
  }
  for (const [kind, place, count] of earlierCounts(record)) add(kind, place, count)
  return {
    add: (kind: IdentifierKind, place: MaskedPlace) => add(kind, place),
    list: () => [...counts.values()],
  }
}

function earlierCounts(record: Buffer): [string, MaskedPlace, number][] {
  const masked: unknown = parseJson(scanMembers(record).get('masked')?.bytes.toString('utf8') ?? 'null')
  if (!Array.isArray(masked)) return []
  return masked.flatMap((one: unknown) => {
    const { kind, place, count } = objectOf(one) ?? {}
    const isPlace = maskedPlaces.includes(place as MaskedPlace)
    return typeof kind === 'string' && isPlace && typeof count === 'number'
      ? [[kind, place as MaskedPlace, count] as [string, MaskedPlace, number]]
      : []
  })
}
