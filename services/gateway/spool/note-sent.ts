import type { Log } from '#runtime/log.ts'
import { writeSentOffset, type Segment } from './segment.ts'

const noteEveryMs = 1_000

/** Notes on disk how far segments are sent, now and then: what is not noted is sent again after a restart, and recognised by ingest. */
export function createSentNotes({ now, log }: { now: () => number; log: Log }) {
  let notedMs = 0
  return async (segment: Segment): Promise<void> => {
    if (now() - notedMs < noteEveryMs) return
    notedMs = now()
    try {
      await writeSentOffset(segment)
    } catch (error) {
      // A full disk above all: to go on sending is what empties it.
      log.warn({ err: error }, 'what is sent cannot be noted: a restart would send it again')
    }
  }
}
