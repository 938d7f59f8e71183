import { messageOf } from '#runtime/errors.ts'

/** Cleanup functions, in the order in which things were started. */
export type Undo = (() => unknown)[]

/** Runs all of them, last first. Continues after an error, and throws it at the end. */
export async function undoAll(undo: Undo): Promise<void> {
  const errors: unknown[] = []
  for (const step of undo.splice(0).reverse()) {
    try {
      await step()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, `not ended: ${errors.map(messageOf).join('; ')}`)
}

/** What `start` makes, with its cleanup. If it fails, cleans up what it had started and throws its error. */
export async function startWithUndo<T extends object>(
  start: (undo: Undo) => Promise<T>,
): Promise<T & { stop: () => Promise<void> }> {
  const undo: Undo = []
  const stop = () => undoAll(undo)
  try {
    return { ...(await start(undo)), stop }
  } catch (error) {
    await stop().catch((failure: unknown) => {
      // oxlint-disable-next-line preserve-caught-error -- error is the first in the list
      throw new AggregateError([error, failure], `${messageOf(error)} (and then ${messageOf(failure)})`)
    })
    throw error
  }
}
