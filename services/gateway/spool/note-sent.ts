import type { Log } from '#runtime/log.ts'
import { writeSentOffset, type Segment } from './segment.ts'

const noteEveryMs = 1_000

/**
 * Notes on disk how far segments are sent, at most once a second. After a restart the rest is sent again, and
 * ingest drops the duplicates.
 */
export function createSentNotes({ now, log }: { now: () => number; log: Log }) {
  let notedMs = 0
  const pending = new Set<Segment>()

  async function write(segment: Segment): Promise<void> {
    pending.delete(segment)
    try {
      await writeSentOffset(segment)
    } catch (error) {
      // The disk is probably full: sending on is what empties it.
      log.warn({ err: error }, 'the sent offset cannot be noted: records would be sent again after a restart')
    }
  }

  return {
    async note(segment: Segment): Promise<void> {
      pending.add(segment)
      if (now() - notedMs < noteEveryMs) return
      notedMs = now()
      await write(segment)
    },
    /**
     * Writes skipped notes. Otherwise the last records before a pause would count as unsent until the next
     * call.
     */
    async catchUp(segments: readonly Segment[]): Promise<void> {
      const late = segments.filter((segment) => pending.has(segment))
      pending.clear()
      for (const segment of late) await write(segment)
    },
  }
}
