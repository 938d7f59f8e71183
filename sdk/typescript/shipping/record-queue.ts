import type { ByteBudget } from '../capturing/byte-budget.ts'

/** A record as the bytes of its JSON. A string would take twice as much. */
export type QueuedRecord = Buffer

/** Records that wait to be sent, oldest first, within the memory budget; the oldest are evicted. */
export interface RecordQueue {
  /** Returns whether the record fit the budget. */
  add(json: string): boolean
  /**
   * Removes the next records, at most `maxRecords` and `maxBytes` but at least one. Their bytes stay
   * acquired.
   */
  take(maxRecords: number, maxBytes: number): QueuedRecord[]
  /** Returns removed records to the front, in their order. */
  requeue(records: readonly QueuedRecord[]): void
  /** Releases the bytes of removed records. */
  release(records: readonly QueuedRecord[]): void
  length(): number
}

/** `dropped` receives the number of evicted records. */
export function createRecordQueue(budget: ByteBudget, dropped: (count: number) => void): RecordQueue {
  /** Entries before `head` are cleared, so that they can be collected. */
  let records: (QueuedRecord | undefined)[] = []
  let head = 0
  let bytes = 0

  const length = () => records.length - head
  const shift = (oldest: QueuedRecord) => {
    records[head++] = undefined
    bytes -= oldest.length
  }
  /** An array that only advances its head grows forever. */
  const compact = () => {
    if (head < 1_024 && head < records.length) return
    records = records.slice(head)
    head = 0
  }

  budget.evictFrom({
    bytes: () => bytes,
    evict(wanted) {
      let count = 0
      let given = 0
      for (let oldest = records[head]; oldest !== undefined && given < wanted; oldest = records[head]) {
        shift(oldest)
        given += oldest.length
        count++
      }
      compact()
      budget.release(given)
      dropped(count)
    },
  })

  return {
    add(json) {
      const record = ownBuffer(json)
      if (!budget.acquire(record.length)) return false
      records.push(record)
      bytes += record.length
      return true
    },
    take(maxRecords, maxBytes) {
      const taken: QueuedRecord[] = []
      let takenBytes = 0
      for (let next = records[head]; next !== undefined && taken.length < maxRecords; next = records[head]) {
        if (taken.length > 0 && takenBytes + next.length > maxBytes) break
        takenBytes += next.length
        taken.push(next)
        shift(next)
      }
      compact()
      return taken
    },
    requeue(back) {
      records = [...back, ...records.slice(head)]
      head = 0
      for (const record of back) bytes += record.length
    },
    release(done) {
      for (const record of done) budget.release(record.length)
    },
    length,
  }
}

/** Allocated separately: a small Buffer is a slice of an 8 KiB pool, which it would keep alive. */
function ownBuffer(text: string): Buffer {
  const buffer = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  buffer.write(text)
  return buffer
}
