import type { ByteBudget } from '../capturing/byte-budget.ts'

/** A record as it will be sent: the bytes of its JSON. A string would take as much again. */
export type QueuedRecord = Buffer

/** Records that wait to be sent, oldest first, within the byte budget; the oldest make room for what is newer. */
export interface RecordQueue {
  /** Whether there was room for the record. */
  add(json: string): boolean
  /** Takes out the next records of at most `maxBytes` (at least one) and `maxRecords`; their bytes stay taken. */
  take(maxRecords: number, maxBytes: number): QueuedRecord[]
  /** Puts records that were taken back in front, in their order. */
  putBack(records: readonly QueuedRecord[]): void
  /** Gives back the bytes of records that were taken and are done with. */
  release(records: readonly QueuedRecord[]): void
  length(): number
}

/** `dropped` is told how many records made room. */
export function createRecordQueue(budget: ByteBudget, dropped: (count: number) => void): RecordQueue {
  /** Those before `head` are gone: emptied, or they would be held until the array is made anew. */
  let records: (QueuedRecord | undefined)[] = []
  let head = 0
  let bytes = 0

  const length = () => records.length - head
  const shift = (oldest: QueuedRecord) => {
    records[head++] = undefined
    bytes -= oldest.length
  }
  /** An array that only shifts its head grows for ever. */
  const compact = () => {
    if (head < 1_024 && head < records.length) return
    records = records.slice(head)
    head = 0
  }

  budget.makeRoomFrom({
    bytes: () => bytes,
    giveUp(wanted) {
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
      if (!budget.take(record.length)) return false
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
    putBack(back) {
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

/** In memory of its own: a small Buffer is else a slice of a pool of 8 KiB, which it would keep alive whole. */
function ownBuffer(text: string): Buffer {
  const buffer = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  buffer.write(text)
  return buffer
}
