/** How long work may keep the event loop before heartbeats and other work get a turn. */
const turnMs = 10

/** Resolves at once while the turn lasts, else after all waiting work has had its turn. */
export type TakeTurn = () => Promise<void>

/**
 * Shared by all concurrent work: together they keep the event loop no longer than one would, and the others
 * continue one per round of the loop. With one for each, a hundred batches held the loop for a second.
 */
export function createTakeTurn(nowMs: () => number = () => performance.now()): TakeTurn {
  const waiting: (() => void)[] = []
  let turnBeganAt = nowMs()
  const beginTurn = () => {
    turnBeganAt = nowMs()
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(beginTurn)
  }
  return () => {
    if (nowMs() - turnBeganAt < turnMs) return Promise.resolve()
    return new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(beginTurn)
    })
  }
}
