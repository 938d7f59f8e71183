import { messageOf } from '#runtime/errors.ts'

/** How what has been started ends, in the order in which it was started. */
export type Undo = (() => unknown)[]

/** Ends all of it, what came last first. One that fails leaves none before it behind; then it is thrown. */
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

/** What `start` makes, with its end. Where it fails, what it had started ends, and its error is thrown, whatever becomes of that. */
export async function startWithUndo<T extends object>(
  start: (undo: Undo) => Promise<T>,
): Promise<T & { stop: () => Promise<void> }> {
  const undo: Undo = []
  const stop = () => undoAll(undo)
  try {
    return { ...(await start(undo)), stop }
  } catch (error) {
    await stop().catch((failure: unknown) => {
      // oxlint-disable-next-line preserve-caught-error -- it is the first of its errors
      throw new AggregateError([error, failure], `${messageOf(error)} (and then ${messageOf(failure)})`)
    })
    throw error
  }
}
