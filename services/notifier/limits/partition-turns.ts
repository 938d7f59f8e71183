/** Of each partition one after the other; what waits for its turn is given up with the partition. */
export function createPartitionTurns() {
  const latest = new Map<number, Promise<unknown>>()
  return <T>(partition: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    const working = (latest.get(partition) ?? Promise.resolve()).then(() => {
      signal.throwIfAborted()
      return work()
    })
    latest.set(
      partition,
      working.catch(() => undefined),
    )
    return working
  }
}
