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

/** `start` is the first offset to come: nothing below it is waited for. */
export function createOffsetLedger(start: bigint): OffsetLedger {
  // Keys keep their order of insertion, so the first entry is the lowest offset: it is unfinished, or there is none.
  const finished = new Map<bigint, boolean>()
  let end = start

  const dropFinished = () => {
    for (const [offset, isFinished] of finished) {
      if (!isFinished) return
      finished.delete(offset)
    }
  }
  return {
    add(offset) {
      if (offset < end) throw new Error(`offset ${offset.toString()} was taken in before`)
      finished.set(offset, false)
      end = offset + 1n
    },
    finish(offset) {
      if (!finished.has(offset)) return
      finished.set(offset, true)
      dropFinished()
    },
    truncate(offset) {
      for (const taken of finished.keys()) if (taken >= offset) finished.delete(taken)
      if (offset < end) end = offset
    },
    lowestUnfinished() {
      for (const offset of finished.keys()) return offset
      return end
    },
    end: () => end,
  }
}
