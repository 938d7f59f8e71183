import { PermanentError } from '#runtime/errors.ts'
import type { EventName } from '#schemas/event-raised.ts'

export interface JoinedData {
  /** JSON text of an object, the same bytes whenever it is made. */
  json: Buffer
  fields: Readonly<Record<string, unknown>>
}

/**
 * The `data` of an event: its own fields, then those of its opened content. The texts are put together as they stand, so that
 * numbers keep all their digits. Throws PermanentError `EVENT_DATA_INVALID` when either is no JSON object.
 */
export function joinEventData(event: EventName, data: Buffer, content: Buffer | null): JoinedData {
  const own = parseObject('data', data)
  const joining = content === null ? {} : parseObject('content', content)
  const missing = event === 'threat_detected' ? missingQuotes({ ...own, ...joining }) : {}
  const fields = { ...own, ...joining, ...missing }
  const repeated = Object.keys(joining).some((key) => key in own)
  if (repeated) return { json: Buffer.from(JSON.stringify(fields)), fields }
  const members = [data, content ?? Buffer.from('{}'), Buffer.from(JSON.stringify(missing))].map(membersOf)
  return { json: Buffer.from(`{${members.filter((text) => text !== '').join(',')}}`), fields }
}

/** A project that keeps no content has nothing to quote; receivers find the fields all the same (specification 6.4). */
function missingQuotes(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const empty = {
    prompt_snippet: '',
    completion_snippet: null,
    ...('tool_name' in fields ? { arguments: {} } : {}),
  }
  return Object.fromEntries(Object.entries(empty).filter(([key]) => !(key in fields)))
}

function parseObject(part: string, json: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(json.toString('utf8'))
  } catch (error) {
    throw new PermanentError('EVENT_DATA_INVALID', `the ${part} of the event is not JSON`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new PermanentError('EVENT_DATA_INVALID', `the ${part} of the event is not a JSON object`)
  }
  return value as Record<string, unknown>
}

/** What stands between the braces of an object's text. */
function membersOf(json: Buffer): string {
  return json.toString('utf8').trim().slice(1, -1).trim()
}
