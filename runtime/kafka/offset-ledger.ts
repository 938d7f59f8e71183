import { Queue } from '../queue.ts'

/** Which offsets of one partition are not finished yet. Finishing happens in any order; committing must not. */
export interface OffsetLedger {
  /** Takes an offset in. They come in rising order, holes allowed. */
  add(offset: bigint): void
  finish(offset: bigint): void
  /** Gives up what was taken in at `offset` and above. */
  truncate(offset: bigint): void
  /** The offset that may be committed: everything below it is finished. */
  lowestUnfinished(): bigint
  /** The offset behind everything taken in. */
  end(): bigint
}

interface Entry {
  offset: bigint
  isFinished: boolean
}

/** `start` is the first offset to come: nothing below it is waited for. */
export function createOffsetLedger(start: bigint): OffsetLedger {
  const unfinished = new Map<bigint, Entry>()
  // Beside the map, because looking for the first key of one steps over all that were deleted before it.
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
