import type { Sealer } from '#runtime/sealing.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { joinEventData, type JoinedData } from './join-event-data.ts'

/** The whole `data` of an event. Throws PermanentError when it cannot be opened or is no JSON object. */
export type JoinEvent = (event: RaisedEvent) => JoinedData

export function createJoinEvent(sealer: Sealer): JoinEvent {
  return (event) => {
    const { content, content_id: contentId, project_id: projectId } = event
    if (content === null) return joinEventData(event.event, event.data, null)
    const identity = sealedIdentity(projectId, contentId ?? event.id, 'event_content')
    return joinEventData(event.event, event.data, sealer.open(content, identity))
  }
}
