/** Gathers records into writes. */
export interface WriteQueue {
  /** Resolves once the record is written, with one promise for all that one write takes; rejects when the write fails. */
  add(record: Buffer, isEphemeral: boolean): Promise<void>
  /** Undefined while nothing is being written; else settles when everything is. Never rejects. */
  writing(): Promise<void> | undefined
}

/** What the next write takes. */
interface Waiting {
  records: Buffer[]
  written: PromiseWithResolvers<void>
}

/** Records that finish in the same turn of the event loop share one write; so do those that come during a write. */
export function createWriteQueue(
  write: (records: readonly Buffer[], isEphemeral: boolean) => Promise<void>,
): WriteQueue {
  const waiting = new Map<boolean, Waiting>()
  let flushing: Promise<void> | undefined

  const writeTogether = async ({ records, written }: Waiting, isEphemeral: boolean) => {
    try {
      await write(records, isEphemeral)
      written.resolve()
    } catch (error) {
      written.reject(error instanceof Error ? error : new Error(String(error)))
    }
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
      let batch = waiting.get(isEphemeral)
      if (batch === undefined) {
        batch = { records: [], written: Promise.withResolvers() }
        waiting.set(isEphemeral, batch)
      }
      batch.records.push(record)
      flushing ??= new Promise<void>((flushed) => setImmediate(() => void flush().then(flushed)))
      return batch.written.promise
    },
    writing: () => flushing,
  }
}
