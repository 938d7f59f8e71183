import type { ByteBudget } from '../capturing/byte-budget.ts'

/** A record as it will be sent: the bytes of its JSON. A string would take as much again. */
export type QueuedRecord = Buffer

/** Records that wait to be sent, oldest first, within the byte budget. */
export interface RecordQueue {
  /** Adds a record; returns how many old ones had to make room. One that is larger than the whole budget makes none and is not added. */
  add(json: string): { added: boolean; dropped: number }
  /** Takes out the next records of at most `maxBytes` (at least one) and `maxRecords`; their bytes stay taken. */
  take(maxRecords: number, maxBytes: number): QueuedRecord[]
  /** Puts records that were taken back in front, in their order. */
  putBack(records: readonly QueuedRecord[]): void
  /** Gives back the bytes of records that were taken and are done with. */
  release(records: readonly QueuedRecord[]): void
  length(): number
}

export function createRecordQueue(budget: ByteBudget): RecordQueue {
  let records: QueuedRecord[] = []
  let head = 0

  const length = () => records.length - head
  const dropOldest = () => {
    const oldest = records[head]
    if (oldest === undefined) return false
    head++
    budget.giveBack(oldest.length)
    return true
  }
  /** An array that only shifts its head grows for ever. */
  const compact = () => {
    if (head < 1_024 && head < records.length) return
    records = records.slice(head)
    head = 0
  }

  return {
    add(json) {
      const record = ownBuffer(json)
      let dropped = 0
      while (!budget.take(record.length)) {
        if (!dropOldest()) return { added: false, dropped }
        dropped++
      }
      compact()
      records.push(record)
      return { added: true, dropped }
    },
    take(maxRecords, maxBytes) {
      const taken: QueuedRecord[] = []
      let bytes = 0
      for (let next = records[head]; next !== undefined && taken.length < maxRecords; next = records[head]) {
        if (taken.length > 0 && bytes + next.length > maxBytes) break
        bytes += next.length
        taken.push(next)
        head++
      }
      compact()
      return taken
    },
    putBack(back) {
      records = [...back, ...records.slice(head)]
      head = 0
    },
    release(done) {
      for (const { length: bytes } of done) budget.giveBack(bytes)
    },
    length,
  }
}

/** In memory of its own: a small Buffer is else a slice of a pool of 8 KiB, which it would keep alive whole. */
function ownBuffer(text: string): Buffer {
  const buffer = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  buffer.write(text)
  return buffer
}
