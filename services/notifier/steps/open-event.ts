import { PermanentError } from '#runtime/errors.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { InvalidEventData, joinEvent, type JoinedData } from '#schemas/join-event.ts'

/** The whole `data` of an event. Throws PermanentError when it cannot be opened or is no JSON object. */
export type JoinEvent = (event: RaisedEvent) => JoinedData

export function createJoinEvent(sealer: Sealer): JoinEvent {
  return (event) => {
    try {
      return joinEvent(event, sealer)
    } catch (error) {
      if (!(error instanceof InvalidEventData)) throw error
      throw new PermanentError('EVENT_DATA_INVALID', error.message, { cause: error })
    }
  }
}
