/**
 * Runs the work of each partition one after the other. Waiting work is dropped when the partition is lost.
 */
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
