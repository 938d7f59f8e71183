import { objectOf } from '../../capture/json.ts'
import { beginningOf } from './capturing/beginning-of.ts'
import { plainValue } from './capturing/plain-value.ts'
import type { Session } from './types.ts'
import type { Warn } from './warn.ts'

/** Record fields that the program sets, usually by its session. */
export interface SessionFields {
  agent_name?: string
  agent_tag?: string
  session_id?: string
  user_id?: string
  model?: string
  metadata?: Record<string, unknown>
  context?: (number | string)[]
}

const labels = {
  agent_name: 'agentName',
  agent_tag: 'agentTag',
  session_id: 'sessionId',
  user_id: 'userId',
  model: 'model',
} as const

/** Ingest's limit. Longer labels are truncated, so that their call is not rejected. */
const maxLabelLength = 256
const maxMetadataBytes = 16 * 1024
const maxMetadataDepth = 8
const maxPlaces = 100
const maxContextBytes = 2_048
/** A message's position, or a JSON pointer (RFC 6901). */
const place = /^(?:0|[1-9]\d{0,4}|\/(?:[^~]|~[01])*)$/
/** A lone surrogate. Node 18 has no `isWellFormed`. */
const half = /\p{Surrogate}/u

type Labels = Session & { model?: string | undefined }

/** Leaves out labels for which ingest would reject the call, with a warning. */
export function sessionFields(session: Labels, warn: Warn): SessionFields {
  const fields: Record<string, unknown> = {}
  const put = (name: string, value: unknown, fault: string | undefined) => {
    if (fault === undefined) fields[name] = value
    else warn(`label ${name}`, `${name} is not recorded: ${fault}`)
  }
  for (const [name, key] of Object.entries(labels)) {
    const given: unknown = session[key]
    if ((given ?? '') === '') continue
    const text = typeof given === 'string' ? cutLabel(given) : given
    put(name, text, typeof text === 'string' ? faultOf(text) : 'it is not a string')
  }
  if (session.metadata !== undefined) {
    // A snapshot, as a cycle or BigInt would throw when it is serialised.
    const metadata = plainValue(session.metadata)
    put('metadata', metadata, faultOfMetadata(metadata))
  }
  if (session.context !== undefined && session.context.length !== 0)
    put('context', session.context, faultOfContext(session.context))
  return fields
}

function cutLabel(text: string): string {
  return beginningOf(text, maxLabelLength)
}

function faultOfMetadata(metadata: unknown): string | undefined {
  if (objectOf(metadata) === undefined) return 'it is not an object'
  const byteLength = Buffer.byteLength(JSON.stringify(metadata))
  if (byteLength > maxMetadataBytes)
    return `it has ${byteLength} bytes of JSON, more than ${maxMetadataBytes}`
  return faultOf(metadata)
}

function faultOfContext(context: unknown): string | undefined {
  if (!Array.isArray(context) || context.length > maxPlaces) return `it is not a list of at most ${maxPlaces}`
  if (!context.every((one) => place.test(String(one))))
    return 'it has more than message indexes and JSON pointers'
  return Buffer.byteLength(context.join()) > maxContextBytes
    ? `it has more than ${maxContextBytes} bytes`
    : faultOf(context)
}

function faultOf(value: unknown, depth = 0): string | undefined {
  if (depth > maxMetadataDepth) return `it is nested deeper than ${maxMetadataDepth} levels`
  if (typeof value === 'string') {
    if (value.includes('\u0000')) return 'it contains a NUL character'
    return half.test(value) ? 'it contains a lone surrogate' : undefined
  }
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    return 'it contains an integer beyond 2^53: pass it as a string'
  for (const [name, member] of Object.entries(objectOrList(value))) {
    const fault = faultOf(name, depth) ?? faultOf(member, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

function objectOrList(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
