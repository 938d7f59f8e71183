import type { RaisedEvent } from '#schemas/event-raised.ts'

/** The event with empty quotations: a tool's arguments can be too large for a record. */
export function withoutContent(event: RaisedEvent): RaisedEvent {
  const data = JSON.parse(event.data.toString('utf8')) as Record<string, unknown>
  const quotations = event.event === 'threat_detected' ? { prompt_snippet: '', completion_snippet: null } : {}
  const stillThere = Buffer.from(JSON.stringify({ ...quotations, ...data }))
  return { ...event, data: stillThere, content: null, content_id: null }
}
