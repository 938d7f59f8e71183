import type { Clock } from '../clock.ts'
import { SluiceError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { PartitionWork, Waiting } from './partition-work.ts'
import { decodeRecord, type DecoderChoice } from './raw-record.ts'
import type { ConsumedRecord } from './records.ts'

/** Checks at least this often. */
const longestWaitMs = 60_000
/** Pause before a due time is read again that the registry's absence hid. */
const askAgainMs = 1_000

interface DueTimesOptions<T> {
  decoder: DecoderChoice<T>
  /** In Unix milliseconds; undefined: every record is due at once. */
  notBefore: ((record: ConsumedRecord<T>) => number) | undefined
  clock: Clock
  log: Log
  /** A head may be due now. */
  wake: () => void
}

/** Holds a partition back until its first record is due. A timer waits, not a handler. */
export class DueTimes<T> {
  readonly #options: DueTimesOptions<T>
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor(options: DueTimesOptions<T>) {
    this.#options = options
  }

  isDue({ head }: PartitionWork<T>): boolean {
    if (head === undefined) return false
    const { notBefore, clock } = this.#options
    if (notBefore === undefined) return true
    if (head.dueMs === null) {
      head.dueMs = Infinity
      void this.#find(head, notBefore)
    }
    // Read again, because the clock may have been set back since: the old time could be an hour ahead.
    if (head.record !== null && head.dueMs > clock.now()) head.dueMs = notBefore(head.record)
    return head.dueMs <= clock.now()
  }

  /** Wakes for the first head that falls due. */
  wakeFor(works: readonly PartitionWork<T>[]): void {
    clearTimeout(this.#timer)
    if (this.#options.notBefore === undefined) return
    const nowMs = this.#options.clock.now()
    const dues = works.map(({ head }) => head?.dueMs ?? Infinity).filter((dueMs) => dueMs > nowMs)
    const next = Math.min(...dues)
    if (next === Infinity) return
    this.#timer = setTimeout(this.#options.wake, Math.min(next - nowMs, longestWaitMs))
  }

  stop(): void {
    this.#stopping.abort()
    clearTimeout(this.#timer)
  }

  async #find(head: Waiting<T>, notBefore: (record: ConsumedRecord<T>) => number): Promise<void> {
    const { decoder, clock, log, wake } = this.#options
    try {
      head.record = await decodeRecord(head.raw, decoder)
      head.dueMs = notBefore(head.record)
    } catch (error) {
      log.debug({ err: error }, 'no due time')
      if (error instanceof SluiceError && error.retry === 'later') {
        await clock.sleep(askAgainMs, this.#stopping.signal)
        head.dueMs = null
        // An unreadable record has no due time. It is handled now, and its outcome decides.
      } else head.dueMs = 0
    }
    wake()
  }
}
