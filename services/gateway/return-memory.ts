import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const everyMs = 5_000
/** Bytes of large bodies that justify a garbage collection of 20 ms while the event loop is idle. */
const worthBytes = 32 * 1024 * 1024
const idleBelow = 0.1

/** Bytes since the last collection. */
let passedBytes = 0

/** Counts a large body that was released. */
export function noteLargeBody(byteLength: number): void {
  passedBytes += byteLength
}

/**
 * Collects garbage after a burst of large bodies. V8 collects only when it allocates: after 200 bodies of 10
 * MB it held 75 MB of buffers and 130 MB of empty heap until more calls came. Small bodies trigger nothing,
 * as a smaller heap has to grow again.
 */
export function returnMemoryWhenIdle(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let last = performance.eventLoopUtilization()
  setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(last)
    last = performance.eventLoopUtilization()
    if (utilization > idleBelow || passedBytes < worthBytes) return
    passedBytes = 0
    collect()
  }, everyMs).unref()
}
