import { messageOf } from './message-of.ts'

/** Work deferred to a later turn, so that parsing and joining bodies does not delay the caller. */
export interface DeferredWork {
  run(work: () => Promise<void>): void
  /** Resolves when all earlier work is done. */
  idle(): Promise<void>
}

/** Beyond this, work runs at once: pending work is in no budget, and may hold 1 MiB of text each. */
const maxPending = 100

/** `failed` receives the error, as the call itself is over. */
export function createDeferredWork(failed: (detail: string) => void): DeferredWork {
  const pending = new Set<Promise<void>>()
  return {
    run(work) {
      const done = new Promise<void>((resolve) => {
        const start = () => {
          work()
            .catch((error: unknown) => {
              failed(messageOf(error))
            })
            .finally(resolve)
        }
        if (pending.size < maxPending) setImmediate(start)
        else start()
      }).finally(() => pending.delete(done))
      pending.add(done)
    },
    idle: async () => {
      await Promise.all(pending)
    },
  }
}
