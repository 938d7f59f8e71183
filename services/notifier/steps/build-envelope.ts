import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { JoinedData } from '#schemas/join-event.ts'

/**
 * The body of a delivery (specification 6.2): the same bytes at every attempt, so that the same bytes are
 * signed.
 */
export function buildEnvelope(event: RaisedEvent, data: JoinedData): Buffer {
  const head = JSON.stringify({
    event: event.event,
    id: event.id,
    created_at: new Date(event.created_at).toISOString(),
    project_id: event.project_id,
  })
  return Buffer.from(`${head.slice(0, -1)},"data":${data.json()}}`)
}
