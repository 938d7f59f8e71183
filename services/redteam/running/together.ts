/**
 * Makes one call of many: what arrives while one is under way goes together into the next. 64 senders that each write a row then cost
 * Postgres a few statements a round instead of 64.
 */
export function createTogether<T, R>(
  work: (items: readonly T[]) => Promise<readonly R[]>,
  most: number,
): (item: T) => Promise<R> {
  let waiting: { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }[] = []
  let isBusy = false

  async function drain(): Promise<void> {
    isBusy = true
    while (waiting.length > 0) {
      // A turn of the event loop: who was answered by the last round asks again now.
      await new Promise((resolve) => setImmediate(resolve))
      const batch = waiting.slice(0, most)
      waiting = waiting.slice(most)
      try {
        const results = await work(batch.map(({ item }) => item))
        batch.forEach(({ resolve }, index) => resolve(results[index] as R))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isBusy = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!isBusy) void drain()
    })
}
