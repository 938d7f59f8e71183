import { isUtf8 } from 'node:buffer'
import { objectOf } from '#capture/json.ts'
import { readContextHeader } from '#capture/record/declared-context.ts'
import { faultOfMetadata, maxMetadataBytes } from '#capture/record/fault-of-metadata.ts'
import { idTimeMs, isId } from '#schemas/ids.ts'
import { redteamMarkHeader } from '#schemas/redteam-mark.ts'

/** Labels that the application sets on its call. */
export interface CallLabels {
  agent_name?: string
  agent_tag?: string
  session_id?: string
  user_id?: string
  /** JSON text of an object. */
  metadata?: string
  /** Where the request holds retrieved text: message indexes and JSON pointers. */
  context?: string[]
}

export interface ServiceHeaders {
  labels: CallLabels
  requestId: string | undefined
  /** Mark of a red team, verified once the request is complete (recording/attack-marks.ts). */
  attackMark: string | undefined
  /** Number of invalid headers. */
  malformed: number
}

/** Ingest's limit. */
const maxLabelLength = 256

/**
 * Ingest accepts identifiers of the last 7 days and the next 2 hours. The margins leave time in the spool,
 * and an hour of clock error.
 */
const oldestIdMs = 86_400_000
const newestIdMs = 90 * 60_000

const labelHeaders = [
  ['x-service-agent-name', 'agent_name'],
  ['x-service-agent-tag', 'agent_tag'],
  ['x-service-session-id', 'session_id'],
  ['x-service-user-id', 'user_id'],
] as const

const nothing: ServiceHeaders = { labels: {}, requestId: undefined, attackMark: undefined, malformed: 0 }

/** Reads the `X-Service-*` headers. Invalid ones are dropped and counted: a label must never fail a call. */
export function readServiceHeaders(headers: ReadonlyMap<string, string>, nowMs: number): ServiceHeaders {
  if (headers.size === 0) return nothing
  const read: ServiceHeaders = {
    labels: {},
    requestId: undefined,
    attackMark: headers.get(redteamMarkHeader),
    malformed: 0,
  }
  for (const [header, label] of labelHeaders) {
    const given = headers.get(header)
    if (given === undefined || given === '') continue
    const text = textOf(given)
    if (text.length <= maxLabelLength) read.labels[label] = text
    else read.malformed++
  }
  const metadata = headers.get('x-service-metadata')
  if (metadata !== undefined) {
    const text = textOf(metadata)
    if (isMetadata(text)) read.labels.metadata = text
    else read.malformed++
  }
  const context = headers.get('x-service-context')
  if (context !== undefined) {
    const places = readContextHeader(textOf(context))
    if (places === undefined) read.malformed++
    else read.labels.context = places
  }
  const id = headers.get('x-service-request-id')
  if (id !== undefined) {
    if (isUsableId(id, nowMs)) read.requestId = id
    else read.malformed++
  }
  return read
}

/** Node reads header bytes as Latin-1. Applications write UTF-8; those in JavaScript may write Latin-1. */
function textOf(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : value
}

function isUsableId(id: string, nowMs: number): boolean {
  if (!isId('request', id)) return false
  const ageMs = nowMs - idTimeMs(id)
  return ageMs <= oldestIdMs && ageMs >= -newestIdMs
}

function isMetadata(text: string): boolean {
  if (Buffer.byteLength(text) > maxMetadataBytes) return false
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
  const metadata = objectOf(value)
  return metadata !== undefined && faultOfMetadata(metadata) === undefined
}
