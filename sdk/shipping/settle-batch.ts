import type { DropReason } from '../types.ts'
import type { RecordDisposition } from './read-results.ts'
import type { QueuedRecord, RecordQueue } from './record-queue.ts'

export interface SettleDependencies {
  queue: RecordQueue
  drop: (reason: DropReason, count: number, detail: string) => void
  sent: (count: number) => void
}

/** So often the API may fail before a record is taken for the cause: with the pauses of a batch that fails whole about a minute. */
export const patientTries = 10

/** What is done with records once the API has decided. */
export function createSettle({ queue, drop, sent }: SettleDependencies) {
  const faultsOf = createCounts()
  const giveUp = (batch: readonly QueuedRecord[], detail: string) => {
    queue.release(batch)
    drop('refused', batch.length, detail)
  }
  /** Returns those to send again, and whether any was decided. */
  const settled = (batch: readonly QueuedRecord[], dispositions: readonly RecordDisposition[]) => {
    const of = (kind: RecordDisposition['kind']) =>
      batch.filter((_, index) => dispositions[index]?.kind === kind)
    const refused = dispositions.filter((disposition) => disposition.kind === 'refused')
    sent(of('stored').length)
    drop('over_quota', of('over_quota').length, "the project's quota is used up")
    drop('refused', refused.length, refused[0]?.detail ?? '')
    queue.release(batch.filter((_, index) => dispositions[index]?.kind !== 'again'))
    // While others are decided, a record that fails again and again is at fault itself.
    const isDecided = dispositions.some((disposition) => disposition.kind !== 'again')
    const isLost = (record: QueuedRecord) => {
      const disposition = dispositions[batch.indexOf(record)]
      return (
        isDecided && disposition?.kind === 'again' && disposition.isFault && faultsOf(record) >= patientTries
      )
    }
    const lost = of('again').filter(isLost)
    giveUp(lost, 'the record is answered 500 while others are taken')
    return { again: of('again').filter((record) => !lost.includes(record)), isDecided }
  }
  return { settled, giveUp }
}

/** How often each record was asked for; forgotten with the record. */
export function createCounts(): (record: QueuedRecord) => number {
  const counts = new WeakMap<QueuedRecord, number>()
  return (record) => {
    const count = (counts.get(record) ?? 0) + 1
    counts.set(record, count)
    return count
  }
}
