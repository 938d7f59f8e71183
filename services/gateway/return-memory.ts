import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const everyMs = 5_000
/** So many bytes of large bodies are worth a collection of 20 ms, while the event loop is idle. */
const worthBytes = 32 * 1024 * 1024
const idleBelow = 0.1

/** Since the last collection. */
let passedBytes = 0

/** Bytes of a large body that was held and is needed no more. */
export function noteLargeBody(byteLength: number): void {
  passedBytes += byteLength
}

/**
 * Collects what a burst of large bodies left. V8 collects when it allocates: after 200 bodies of 10 MB it held
 * 75 MB of buffers and 130 MB of empty heap until more calls came. After small ones nothing is collected, as a
 * smaller heap has to grow again.
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
