import { TransientError } from '#runtime/errors.ts'

export interface GatherOptions<I, O> {
  /** Answers in the order of `items`. */
  run: (items: readonly I[]) => Promise<readonly O[]>
  /** What two calls of one statement may not have in common. Absent: any may be together. */
  keyOf?: (item: I) => string
  /** Of one statement. */
  maxItems: number
  /** Statements at the same time: what comes meanwhile is gathered for the next. */
  maxRunning: number
}

interface Call<I, O> {
  item: I
  resolve: (answer: O) => void
  reject: (error: unknown) => void
}

/**
 * Calls that come close together share one statement: a round trip and a commit for all of them. Alone, a call waits for nothing but
 * the end of the turn. Each call still has its answer from after the statement has ended. When a statement is refused for good,
 * its calls are made one by one, so that one call's fault is not another's.
 */
export function gatherCalls<I, O>(options: GatherOptions<I, O>): (item: I) => Promise<O> {
  const { run, keyOf, maxItems, maxRunning } = options
  let waiting: Call<I, O>[] = []
  let running = 0
  let isPlanned = false

  const takeBatch = (): Call<I, O>[] => {
    const batch: Call<I, O>[] = []
    const left: Call<I, O>[] = []
    const keys = new Set<string>()
    for (const call of waiting) {
      const key = keyOf?.(call.item) ?? String(batch.length)
      const fits = batch.length < maxItems && !keys.has(key)
      keys.add(key)
      ;(fits ? batch : left).push(call)
    }
    waiting = left
    return batch
  }
  const settle = async (batch: readonly Call<I, O>[]): Promise<void> => {
    try {
      const answers = await run(batch.map(({ item }) => item))
      batch.forEach(({ resolve }, index) => resolve(answers[index] as O))
    } catch (error) {
      if (batch.length > 1 && !(error instanceof TransientError)) {
        for (const call of batch) await settle([call])
      } else for (const { reject } of batch) reject(error)
    }
  }
  const begin = (): void => {
    isPlanned = false
    while (running < maxRunning && waiting.length > 0) {
      running++
      void settle(takeBatch()).finally(() => {
        running--
        plan()
      })
    }
  }
  const plan = (): void => {
    if (isPlanned || running >= maxRunning || waiting.length === 0) return
    isPlanned = true
    setImmediate(begin)
  }
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      plan()
    })
}
