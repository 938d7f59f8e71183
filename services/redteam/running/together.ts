interface Together {
  /** Maximum items of one call. */
  most: number
  /** Concurrent calls. */
  atOnce: number
  /** A call waits for that many items, or until its first has waited for `withinMs`. */
  least: number
  withinMs: number
}

/**
 * Makes one call of many items, for work where one item costs nearly as much as thirty and nobody needs the
 * result at once.
 */
export function createTogether<T, R>(
  work: (items: readonly T[]) => Promise<readonly R[]>,
  { most, atOnce, least, withinMs }: Together,
): (item: T) => Promise<R> {
  const waiting: { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }[] = []
  let underWay = 0
  let timer: NodeJS.Timeout | undefined
  let isDue = false

  const look = () => {
    while (underWay < atOnce && waiting.length > 0 && (isDue || waiting.length >= least)) void carry()
    if (waiting.length > 0 && !isDue)
      timer ??= setTimeout(() => {
        isDue = true
        look()
      }, withinMs)
  }
  async function carry(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    isDue = false
    underWay++
    const batch = waiting.splice(0, most)
    try {
      const results = await work(batch.map(({ item }) => item))
      batch.forEach(({ resolve }, index) => resolve(results[index] as R))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    underWay--
    look()
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      look()
    })
}
