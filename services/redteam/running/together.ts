/**
 * Makes one call of many: what arrives while `atOnce` are under way goes together into the next. 64 senders that each log an answer then cost
 * ingest and Postgres a few calls a round instead of 64.
 */
export function createTogether<T, R>(
  work: (items: readonly T[]) => Promise<readonly R[]>,
  { most, atOnce }: { most: number; atOnce: number },
): (item: T) => Promise<R> {
  let waiting: { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }[] = []
  let busy = 0

  async function drain(): Promise<void> {
    busy++
    // A turn of the event loop: who was answered by the last round asks again now.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const batch = waiting.slice(0, most)
      waiting = waiting.slice(most)
      try {
        const results = await work(batch.map(({ item }) => item))
        batch.forEach(({ resolve }, index) => resolve(results[index] as R))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    busy--
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (busy < atOnce) void drain()
    })
}
