import { messageOf } from './message-of.ts'

/** Work that is done after the caller has had its turn: parsing and joining bodies costs it nothing that it waits for. */
export interface DeferredWork {
  run(work: () => Promise<void>): void
  /** Resolves when what was given before is done. */
  idle(): Promise<void>
}

/** A program that makes more in one turn pays for the rest itself: what waits here is in no budget, and may be 1 MiB of text a piece. */
const maxPending = 100

/** `failed` is told what went wrong: the call that the work is about is long over. */
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
