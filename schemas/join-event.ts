import { isUtf8 } from 'node:buffer'
import { eventDataFields } from './event-data.ts'
import type { RaisedEvent } from './event-raised.ts'
import { parseToRewrite } from './parse-to-rewrite.ts'
import type { EventContent } from './safety-score-recorded.ts'
import { sealedIdentity, type SealedBytes } from './sealed-bytes.ts'

export interface JoinedData {
  /** JSON text of an object, the same each time. A function, because some readers need only the fields. */
  json: () => string
  fields: Readonly<Record<string, unknown>>
}

/** Thrown for data that is no JSON object. */
export class InvalidEventData extends Error {}

/**
 * The whole `data` of an event: its own fields, then those of its content, which `sealer` opens. The texts
 * are joined as they are, so numbers keep all digits. Throws {@link InvalidEventData}, and errors of
 * `sealer`.
 */
export function joinEvent(
  { id, event, project_id: projectId, data, content, content_id: contentId }: RaisedEvent,
  sealer: { open: (content: SealedBytes, identity: string) => Buffer },
): JoinedData {
  const own = parseObject('data', data)
  const joining =
    content === null
      ? nothing
      : quotesFor(
          own.fields['scorer_name'],
          parseObject(
            'content',
            sealer.open(content, sealedIdentity(projectId, contentId ?? id, 'event_content')),
          ),
        )
  const isRepeated = Object.keys(joining.fields).some((key) => key in own.fields)
  // Otherwise assign to the object just parsed: a copy took 4% of the memory of a delivery.
  const fields = isRepeated ? { ...own.fields, ...joining.fields } : Object.assign(own.fields, joining.fields)
  const missing = event === 'threat_detected' ? missingQuotes(fields) : nothing
  Object.assign(fields, missing.fields)
  const json = () => (isRepeated ? JSON.stringify(fields) : joinTexts([own, joining, missing]))
  return { json, fields }
}

const unknownFields = Object.fromEntries(eventDataFields.map((field) => [field, null]))

/**
 * Input of filter expressions: the envelope of the event, with every field that the `data` of some event can
 * hold.
 */
export function expressionValues(event: RaisedEvent, { fields }: JoinedData): Record<string, unknown> {
  return {
    event: event.event,
    id: event.id,
    created_at: new Date(event.created_at).toISOString(),
    project_id: event.project_id,
    data: { ...unknownFields, ...fields },
  }
}

interface Parsed {
  text: string
  fields: Record<string, unknown>
}

const nothing: Parsed = { text: '{}', fields: {} }

/** The quotes of one scorer, where scorers of the call found something in different places. */
function quotesFor(scorer: unknown, content: Parsed): Parsed {
  // Nearly all events lack it: copy nothing for them.
  if (!Array.isArray(content.fields['by_scorer'])) return content
  const { by_scorer: byScorer, ...fields } = content.fields
  const own = (byScorer as (Required<EventContent>['by_scorer'][number] | null)[]).find(
    (quotes) => quotes?.scorer_name === scorer,
  )
  const quotes = own && { prompt_snippet: own.prompt_snippet, completion_snippet: own.completion_snippet }
  const text = JSON.stringify({
    ...(parseToRewrite(content.text) as object),
    ...quotes,
    by_scorer: undefined,
  })
  return { text, fields: { ...fields, ...quotes } }
}

/** A project without content has no quotes. Receivers still find the fields (specification 6.4). */
function missingQuotes(known: Readonly<Record<string, unknown>>): Parsed {
  const fields: Record<string, unknown> = {}
  if (!('prompt_snippet' in known)) fields['prompt_snippet'] = ''
  if (!('completion_snippet' in known)) fields['completion_snippet'] = null
  if ('tool_name' in known && !('arguments' in known)) fields['arguments'] = {}
  const text = JSON.stringify(fields)
  return text === nothing.text ? nothing : { text, fields }
}

function parseObject(part: string, json: Buffer): Parsed {
  // Postgres also reads it as text, and refuses what Node would repair.
  if (!isUtf8(json)) throw new InvalidEventData(`the ${part} of the event is not UTF-8`)
  const text = json.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new InvalidEventData(`the ${part} of the event is not JSON`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidEventData(`the ${part} of the event is not a JSON object`)
  }
  return { text, fields: value as Record<string, unknown> }
}

function joinTexts(objects: readonly Parsed[]): string {
  const members = objects.map(membersOf).filter((text) => text !== '')
  return `{${members.join(',')}}`
}

/** The text between the braces of an object. */
function membersOf({ text }: Parsed): string {
  return text.trim().slice(1, -1).trim()
}
