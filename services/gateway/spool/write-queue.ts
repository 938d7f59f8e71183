interface Pending {
  record: Buffer
  isEphemeral: boolean
  resolve: () => void
  reject: (error: Error) => void
}

/** Gathers records into writes. */
export interface WriteQueue {
  /** Resolves once the record is written; rejects when its write fails. */
  add(record: Buffer, isEphemeral: boolean): Promise<void>
  /** Undefined while nothing is being written; else settles when everything is. Never rejects. */
  writing(): Promise<void> | undefined
}

/** Records that finish in the same turn of the event loop share one write; so do those that come during a write. */
export function createWriteQueue(
  write: (records: readonly Buffer[], isEphemeral: boolean) => Promise<void>,
): WriteQueue {
  let waiting: Pending[] = []
  let flushing: Promise<void> | undefined

  const writeTogether = async (batch: readonly Pending[], isEphemeral: boolean) => {
    if (batch.length === 0) return
    try {
      await write(
        batch.map(({ record }) => record),
        isEphemeral,
      )
      for (const { resolve } of batch) resolve()
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      for (const { reject } of batch) reject(failure)
    }
  }
  const flush = async () => {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      for (const isEphemeral of [false, true])
        await writeTogether(
          batch.filter((pending) => pending.isEphemeral === isEphemeral),
          isEphemeral,
        )
    }
    flushing = undefined
  }

  return {
    add: (record, isEphemeral) =>
      new Promise((resolve, reject) => {
        waiting.push({ record, isEphemeral, resolve, reject })
        flushing ??= new Promise<void>((flushed) => setImmediate(() => void flush().then(flushed)))
      }),
    writing: () => flushing,
  }
}
