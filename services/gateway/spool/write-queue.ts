/** Batches records into writes. */
export interface WriteQueue {
  /**
   * Resolves once the record is written; records of one write share the promise. Rejects when the write
   * fails, or at once when too much is waiting.
   */
  add(record: Buffer, isEphemeral: boolean): Promise<void>
  /** Undefined while nothing is being written; otherwise resolves when all is. Never rejects. */
  writing(): Promise<void> | undefined
}

/** Records of the next write. */
interface Waiting {
  records: Buffer[]
  byteLength: number
  written: PromiseWithResolvers<void>
}

interface QueueLimits {
  /** Limit of records not yet written; a single record may be longer. */
  maxBytes: number
  /** Called for each record over the limit. */
  onRefused: (error: Error) => void
}

/** Records of one turn of the event loop share a write, and so do those that arrive during a write. */
export function createWriteQueue(
  write: (records: readonly Buffer[], isEphemeral: boolean) => Promise<void>,
  { maxBytes, onRefused }: QueueLimits,
): WriteQueue {
  const waiting = new Map<boolean, Waiting>()
  let flushing: Promise<void> | undefined
  let waitingBytes = 0

  const writeTogether = async ({ records, byteLength, written }: Waiting, isEphemeral: boolean) => {
    try {
      await write(records, isEphemeral)
      written.resolve()
    } catch (error) {
      written.reject(error instanceof Error ? error : new Error(String(error)))
    }
    waitingBytes -= byteLength
  }
  const flush = async () => {
    while (waiting.size > 0) {
      const batches = [...waiting]
      waiting.clear()
      for (const [isEphemeral, batch] of batches) await writeTogether(batch, isEphemeral)
    }
    flushing = undefined
  }

  return {
    add(record, isEphemeral) {
      // A disk that hangs must not fill the memory.
      if (waitingBytes > 0 && waitingBytes + record.length > maxBytes) {
        const error = new Error(`the disk is too slow: ${waitingBytes} bytes are waiting`)
        onRefused(error)
        return Promise.reject(error)
      }
      let batch = waiting.get(isEphemeral)
      if (batch === undefined) {
        batch = { records: [], byteLength: 0, written: Promise.withResolvers() }
        waiting.set(isEphemeral, batch)
      }
      batch.records.push(record)
      batch.byteLength += record.length
      waitingBytes += record.length
      flushing ??= new Promise<void>((flushed) => setImmediate(() => void flush().then(flushed)))
      return batch.written.promise
    },
    writing: () => flushing,
  }
}
