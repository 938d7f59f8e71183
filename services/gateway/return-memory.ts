import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const mebibyte = 1024 * 1024
const everyMs = 5_000
/** So much growth is worth a collection of 20 ms, while the event loop is idle. */
const worthBytes = 48 * mebibyte
const idleBelow = 0.1

/**
 * Collects what a burst of large bodies left. V8 collects when it allocates: after 200 bodies of 10 MB it held
 * 75 MB of buffers and 130 MB of empty heap until more calls came.
 */
export function returnMemoryWhenIdle(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let last = performance.eventLoopUtilization()
  let leastBytes = heldBytes()
  setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(last)
    last = performance.eventLoopUtilization()
    const bytes = heldBytes()
    leastBytes = Math.min(leastBytes, bytes)
    if (utilization > idleBelow || bytes - leastBytes < worthBytes) return
    collect()
    leastBytes = heldBytes()
  }, everyMs).unref()
}

function heldBytes(): number {
  const { heapTotal, external } = process.memoryUsage()
  return heapTotal + external
}
