/** How long work may keep the event loop before heartbeats and whatever else waits get a turn. */
const turnMs = 10

/** Resolves at once while the turn lasts, else after everything that waits had its turn. */
export type TakeTurn = () => Promise<void>

export function createTakeTurn(): TakeTurn {
  let turnBeganAt = performance.now()
  return async () => {
    if (performance.now() - turnBeganAt < turnMs) return
    await new Promise((resolve) => setImmediate(resolve))
    turnBeganAt = performance.now()
  }
}
