/** Waits for things, each for the same time at most. */
export interface SharedTimeout {
  /** `late` when `work` is not done in time; it goes on. `work` must not reject. */
  race(work: Promise<void>): Promise<'done' | 'late'>
}

interface Waiting {
  untilMs: number
  settle: (outcome: 'done' | 'late') => void
}

/** All share one timer, which runs no more than once in `waitMs`: a timer for each cost 5% of a call. */
export function createSharedTimeout(waitMs: number): SharedTimeout {
  // In the order of their deadlines, because all wait equally long.
  const waiting = new Set<Waiting>()
  let timer: NodeJS.Timeout | undefined

  const expire = () => {
    timer = undefined
    const nowMs = performance.now()
    for (const each of waiting) {
      if (each.untilMs > nowMs) {
        timer = setTimeout(expire, each.untilMs - nowMs).unref()
        return
      }
      waiting.delete(each)
      each.settle('late')
    }
  }

  return {
    race: (work) =>
      new Promise((settle) => {
        const own = { untilMs: performance.now() + waitMs, settle }
        waiting.add(own)
        timer ??= setTimeout(expire, waitMs).unref()
        void work.then(() => {
          waiting.delete(own)
          settle('done')
        })
      }),
  }
}
