/** How long work may keep the event loop before heartbeats and whatever else waits get a turn. */
const turnMs = 10

/** Resolves at once while the turn lasts, else after everything that waits had its turn. */
export type TakeTurn = () => Promise<void>

/**
 * One for all works that may go on at the same time: sharing it they keep the event loop no longer than one of them would, and those that
 * wait go on one after the other, a round of the event loop for each. With one for each, a hundred batches took turns of a second.
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
