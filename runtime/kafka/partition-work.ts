import { Queue } from '../queue.ts'
import type { ConsumerMetrics } from './consumer-metrics.ts'
import { type Assigned, type CommitPosition } from './assignment.ts'
import {
  MAX_TRIES,
  restingMark,
  sameMark,
  triesBefore,
  workingMark,
  type CrashMark,
  type Suspects,
} from './crash-marks.ts'
import { createOffsetLedger, type OffsetLedger } from './offset-ledger.ts'
import { weightBytes, type RawRecord } from './raw-record.ts'
import type { ConsumedRecord } from './records.ts'

/** A queued record. Decoded early only where the record itself says when it is due. */
export interface Waiting<T> {
  raw: RawRecord
  record: ConsumedRecord<T> | null
  /** In Unix milliseconds; null: not known yet. */
  dueMs: number | null
}

export interface Places {
  /** Records handled at the same time, over all partitions. */
  concurrency: number
  /**
   * Reserves the last quarter for partitions below their share, so that slow records of a few do not block
   * the others.
   */
  sparesPlaces?: boolean
}

/**
 * The waiting, running and finished records of one partition, and the offset that may be committed. Has no
 * clock and no broker.
 */
export class PartitionWork<T> {
  assigned: Assigned
  paused = false
  /** Keeps the mark when the consumer ends: a record here triggers a bug. */
  keepMark = false
  /** Whether a record in its last try may begin: one at a time per process. */
  mayTryLast = false
  highWatermark = 0n
  /** Ends a wait for another attempt: the partition is lost, or the consumer stops. */
  readonly waiting: AbortSignal
  readonly #window: bigint
  readonly #lost = new AbortController()
  readonly #suspects: Suspects | null
  readonly #ledger: OffsetLedger
  readonly #running = new Map<bigint, RawRecord>()
  readonly #waiting = new Queue<Waiting<T>>()
  #bytes = 0
  #committed: { offset: bigint; mark: CrashMark | null }

  /**
   * At most `window` offsets begin beyond the lowest unfinished one: as many run one by one after a crash.
   */
  constructor(assigned: Assigned, window: number, stopping: AbortSignal) {
    this.assigned = assigned
    this.waiting = AbortSignal.any([this.#lost.signal, stopping])
    this.#window = BigInt(window)
    this.#suspects = assigned.suspects
    this.#ledger = createOffsetLedger(assigned.start)
    this.#committed = { offset: assigned.start, mark: assigned.found }
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }
  get bytes(): number {
    return this.#bytes
  }
  get running(): number {
    return this.#running.size
  }
  get head(): Waiting<T> | undefined {
    return this.#waiting.head
  }

  abandon(): void {
    this.#lost.abort()
    this.#waiting.clear()
  }

  /**
   * Whether the partition, assigned again, stands where we left it: then no other member has worked on it.
   */
  continues(assigned: Assigned): boolean {
    const { offset, mark } = this.#committed
    return offset === assigned.start && sameMark(mark, assigned.found)
  }

  /** Continues under a new generation: running records go on, waiting ones are fetched again. */
  adopt(assigned: Assigned): void {
    this.assigned = assigned
    this.paused = false
    if (this.head) this.#ledger.truncate(this.head.raw.offset)
    for (const { raw } of this.#waiting.clear()) this.#bytes -= weightBytes(raw)
  }

  /** Whether anything was read since the assignment. Otherwise there is nothing to commit. */
  get touched(): boolean {
    return this.#ledger.end() !== this.assigned.start
  }

  take(records: readonly RawRecord[]): void {
    for (const raw of records) {
      if (raw.offset < this.#ledger.end()) continue
      this.#ledger.add(raw.offset)
      this.#bytes += weightBytes(raw)
      this.#waiting.add({ raw, record: null, dueMs: null })
    }
  }

  /** The number of the record's next try. */
  triesOf({ offset }: RawRecord): number {
    return triesBefore(this.#suspects, offset) + 1
  }

  /** Whether this partition may begin another record, when `taken` run over all of `partitions`. */
  hasPlace(taken: number, { concurrency, sparesPlaces = false }: Places, partitions: number): boolean {
    const isForAll = !sparesPlaces || taken < concurrency - (concurrency >> 2)
    return isForAll || this.running < concurrency / partitions
  }

  /** Whether an acknowledged mark covers the first record, or it needs none because it is given up. */
  mayBegin(): boolean {
    if (this.head === undefined) return false
    const { offset } = this.head.raw
    const tries = this.triesOf(this.head.raw)
    const { mark, offset: at } = this.#committed
    const isOurs = mark !== null && mark.writers.at(-1) === this.assigned.writer
    if (tries === 1)
      return isOurs && offset < mark.until && offset < this.#ledger.lowestUnfinished() + this.#window
    if (this.#running.size > 0) return false
    return tries > MAX_TRIES || (isOurs && at === offset && mark.writers.length === tries)
  }

  /**
   * Whether the first record waits for a mark, so that a commit is due. Not while most of the window is under
   * way: a commit for every few records costs more than the records.
   */
  get needsMark(): boolean {
    return !this.mayBegin() && BigInt(this.#running.size) * 2n <= this.#window && this.progress() !== null
  }

  begin(): Waiting<T> | undefined {
    const next = this.#waiting.take()
    if (next) this.#running.set(next.raw.offset, next.raw)
    return next
  }

  finish(raw: RawRecord): void {
    this.#running.delete(raw.offset)
    this.#bytes -= weightBytes(raw)
    this.#ledger.finish(raw.offset)
  }

  /** Drops a record that was begun and not finished: the partition is lost, or the consumer ends. */
  leave(raw: RawRecord): void {
    this.#running.delete(raw.offset)
    this.#bytes -= weightBytes(raw)
  }

  /** What to commit while work goes on; null when it is committed already. */
  progress(): CommitPosition | null {
    const offset = this.#lowest()
    const mark = this.#workingMark()
    const same = this.#committed.offset === offset && sameMark(this.#committed.mark, mark)
    return same ? null : { assigned: this.assigned, offset, mark }
  }

  /** What to commit when work is interrupted or over. */
  rest(): CommitPosition {
    const offset = this.#lowest()
    const mark = this.keepMark ? this.#workingMark() : restingMark(this.#suspects, offset)
    return { assigned: this.assigned, offset, mark }
  }

  committed({ offset, mark }: CommitPosition): void {
    this.#committed = { offset, mark }
  }

  lag(): number {
    return Math.max(0, Number(this.highWatermark - this.#lowest()))
  }

  /** The time of the oldest unfinished record, in Unix milliseconds. */
  oldestMs(): number | null {
    const raws = [...this.#running.values(), ...(this.head ? [this.head.raw] : [])]
    return raws.length === 0 ? null : Math.min(...raws.map(({ message }) => Number(message.timestamp)))
  }

  #lowest(): bigint {
    return this.#ledger.lowestUnfinished()
  }

  #workingMark(): CrashMark | null {
    const lowest = this.#lowest()
    const end = this.#ledger.end()
    const tries = triesBefore(this.#suspects, lowest) + 1
    const idle = lowest === end
    if (idle || tries > MAX_TRIES || (tries === MAX_TRIES && !this.mayTryLast))
      return restingMark(this.#suspects, lowest)
    const reach = lowest + this.#window
    return workingMark(this.#suspects, lowest, {
      writer: this.assigned.writer,
      until: reach < end ? reach : end,
    })
  }
}

/**
 * Lets one partition at a time begin a record that two processes ended on. If this process ends too, that
 * record did it.
 */
export function grantLastTry<T>(works: readonly PartitionWork<T>[]): void {
  const isLast = (work: PartitionWork<T>) =>
    work.head !== undefined && work.triesOf(work.head.raw) === MAX_TRIES
  for (const work of works) {
    if (work.mayTryLast && work.running === 0 && !isLast(work)) work.mayTryLast = false
  }
  if (works.some((work) => work.mayTryLast)) return
  const next = works.find((work) => isLast(work) && work.running === 0)
  if (next) next.mayTryLast = true
}

/**
 * Reports only this member's partitions: lost ones remain listed until start offsets are known, and no report
 * is undone.
 */
export function reportProgress<T>(
  works: readonly PartitionWork<T>[],
  metrics: ConsumerMetrics,
  isOurs: (assigned: Assigned) => boolean,
): void {
  for (const work of works) {
    if (!isOurs(work.assigned)) continue
    const { topic, partition } = work.assigned
    metrics.lag(topic, partition, work.lag())
    metrics.oldestUnfinished(topic, partition, work.oldestMs())
  }
}
