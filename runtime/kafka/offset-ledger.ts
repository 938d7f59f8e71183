import { Queue } from '../queue.ts'

/** The unfinished offsets of one partition. They finish in any order; commits must not skip any. */
export interface OffsetLedger {
  /** Adds an offset. They come in rising order, with gaps. */
  add(offset: bigint): void
  finish(offset: bigint): void
  /** Drops the entries at `offset` and above. */
  truncate(offset: bigint): void
  /** The offset that may be committed: everything below it is finished. */
  lowestUnfinished(): bigint
  /** The offset behind the last entry. */
  end(): bigint
}

interface Entry {
  offset: bigint
  isFinished: boolean
}

/** `start` is the first offset to expect. */
export function createOffsetLedger(start: bigint): OffsetLedger {
  const unfinished = new Map<bigint, Entry>()
  // A queue beside the map: a map's first key is found by stepping over every deleted key before it.
  const inOrder = new Queue<Entry>()
  let end = start

  return {
    add(offset) {
      if (offset < end) throw new Error(`offset ${offset.toString()} was taken in before`)
      const entry = { offset, isFinished: false }
      unfinished.set(offset, entry)
      inOrder.add(entry)
      end = offset + 1n
    },
    finish(offset) {
      const entry = unfinished.get(offset)
      if (entry === undefined) return
      entry.isFinished = true
      unfinished.delete(offset)
      while (inOrder.head?.isFinished === true) inOrder.take()
    },
    truncate(offset) {
      for (const entry of inOrder.clear()) {
        if (entry.offset < offset) inOrder.add(entry)
        else unfinished.delete(entry.offset)
      }
      if (offset < end) end = offset
    },
    lowestUnfinished: () => inOrder.head?.offset ?? end,
    end: () => end,
  }
}
