import type { DropReason } from '../types.ts'
import type { RecordDisposition } from './read-results.ts'
import type { QueuedRecord, RecordQueue } from './record-queue.ts'

export interface SettleDependencies {
  queue: RecordQueue
  drop: (reason: DropReason, count: number, detail: string) => void
  sent: (count: number) => void
}

/** Failures before a record is considered the cause: about a minute with the pauses of failing batches. */
export const maxTries = 10

/** Applies the API's decisions to records. */
export function createSettle({ queue, drop, sent }: SettleDependencies) {
  const faultsOf = createCounts()
  const giveUp = (batch: readonly QueuedRecord[], detail: string) => {
    queue.release(batch)
    drop('refused', batch.length, detail)
  }
  /** Returns the records to retry, and whether any was decided. */
  const settled = (batch: readonly QueuedRecord[], dispositions: readonly RecordDisposition[]) => {
    const of = (kind: RecordDisposition['kind']) =>
      batch.filter((_, index) => dispositions[index]?.kind === kind)
    const refused = dispositions.filter((disposition) => disposition.kind === 'refused')
    sent(of('stored').length)
    drop('over_quota', of('over_quota').length, "the project's quota is used up")
    drop('refused', refused.length, refused[0]?.detail ?? '')
    queue.release(batch.filter((_, index) => dispositions[index]?.kind !== 'again'))
    // A record that keeps failing while others are decided is itself at fault.
    const isDecided = dispositions.some((disposition) => disposition.kind !== 'again')
    const isLost = (record: QueuedRecord) => {
      const disposition = dispositions[batch.indexOf(record)]
      return isDecided && disposition?.kind === 'again' && disposition.isFault && faultsOf(record) >= maxTries
    }
    const lost = of('again').filter(isLost)
    giveUp(lost, 'the API answers 500 to this record while it accepts others')
    return { again: of('again').filter((record) => !lost.includes(record)), isDecided }
  }
  return { settled, giveUp }
}

/** Counts calls per record, for as long as the record exists. */
export function createCounts(): (record: QueuedRecord) => number {
  const counts = new WeakMap<QueuedRecord, number>()
  return (record) => {
    const count = (counts.get(record) ?? 0) + 1
    counts.set(record, count)
    return count
  }
}
