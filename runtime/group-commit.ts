export interface GroupCommitOptions<T, R> {
  /** A result for each item, in order. An Error among them rejects its own call alone. */
  run: (items: readonly T[]) => Promise<readonly (R | Error)[]>
  /** Whether one item can be the cause: then each runs alone. */
  isOfOne: (error: unknown) => boolean
  weightOf: (item: T) => number
  /** The maximum of a group; a heavier item runs alone. */
  maxWeight: number
}

interface Waiting<T, R> {
  item: T
  resolve: (result: R) => void
  reject: (error: unknown) => void
}

/**
 * Runs concurrent calls in groups, which share what a transaction or a request costs however little is in it.
 * One group runs at a time: calls that come meanwhile are the next one.
 */
export function createGroupCommit<T, R>(options: GroupCommitOptions<T, R>): (item: T) => Promise<R> {
  let waiting: Waiting<T, R>[] = []
  let isRunning = false
  const runAll = async () => {
    // Calls of the same turn join the first.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const size = groupSize(waiting, options)
      const group = waiting.slice(0, size)
      waiting = waiting.slice(size)
      await settle(group, options)
    }
    isRunning = false
  }
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (isRunning) return
      isRunning = true
      void runAll()
    })
}

function groupSize<T, R>(
  waiting: readonly Waiting<T, R>[],
  { weightOf, maxWeight }: GroupCommitOptions<T, R>,
): number {
  let weight = 0
  const tooMany = waiting.findIndex(({ item }) => (weight += weightOf(item)) > maxWeight)
  return tooMany < 0 ? waiting.length : Math.max(1, tooMany)
}

async function settle<T, R>(
  group: readonly Waiting<T, R>[],
  options: GroupCommitOptions<T, R>,
): Promise<void> {
  try {
    const results = await options.run(group.map(({ item }) => item))
    for (const [index, { resolve, reject }] of group.entries()) {
      const result = results[index]
      if (result instanceof Error) reject(result)
      else resolve(result as R)
    }
  } catch (error) {
    if (group.length > 1 && options.isOfOne(error)) for (const one of group) await settle([one], options)
    else for (const { reject } of group) reject(error)
  }
}
