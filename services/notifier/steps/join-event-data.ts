import { PermanentError } from '#runtime/errors.ts'
import type { EventName } from '#schemas/event-raised.ts'

export interface JoinedData {
  /** JSON text of an object, the same whenever it is made. */
  json: string
  fields: Readonly<Record<string, unknown>>
}

/**
 * The `data` of an event: its own fields, then those of its opened content. The texts are put together as they stand, so that
 * numbers keep all their digits. Throws PermanentError `EVENT_DATA_INVALID` when either is no JSON object.
 */
export function joinEventData(event: EventName, data: Buffer, content: Buffer | null): JoinedData {
  const own = parseObject('data', data)
  const joining = content === null ? nothing : parseObject('content', content)
  const known = joining === nothing ? own.fields : { ...own.fields, ...joining.fields }
  const missing = event === 'threat_detected' ? missingQuotes(known) : nothing
  const fields = missing === nothing ? known : { ...known, ...missing.fields }
  const repeated = Object.keys(joining.fields).some((key) => key in own.fields)
  if (repeated) return { json: JSON.stringify(fields), fields }
  const members = [own, joining, missing].map(membersOf).filter((text) => text !== '')
  return { json: `{${members.join(',')}}`, fields }
}

interface Parsed {
  text: string
  fields: Record<string, unknown>
}

const nothing: Parsed = { text: '{}', fields: {} }

/** A project that keeps no content has nothing to quote; receivers find the fields all the same (specification 6.4). */
function missingQuotes(known: Readonly<Record<string, unknown>>): Parsed {
  const fields: Record<string, unknown> = {}
  if (!('prompt_snippet' in known)) fields['prompt_snippet'] = ''
  if (!('completion_snippet' in known)) fields['completion_snippet'] = null
  if ('tool_name' in known && !('arguments' in known)) fields['arguments'] = {}
  const text = JSON.stringify(fields)
  return text === nothing.text ? nothing : { text, fields }
}

function parseObject(part: string, json: Buffer): Parsed {
  const text = json.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new PermanentError('EVENT_DATA_INVALID', `the ${part} of the event is not JSON`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new PermanentError('EVENT_DATA_INVALID', `the ${part} of the event is not a JSON object`)
  }
  return { text, fields: value as Record<string, unknown> }
}

/** What stands between the braces of an object's text. */
function membersOf({ text }: Parsed): string {
  return text.trim().slice(1, -1).trim()
}
