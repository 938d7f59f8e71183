/**
 * For 16 times the input, linear work takes 16 times as long, up to 50 with garbage collection; quadratic
 * work 256.
 */
const [growth, maxTimes] = [16, 80]
/** Less is noise. */
const minMicroseconds = 15_000

/** CPU time of `work` in microseconds. Not wall time: other processes share the machine. */
export function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Whether the CPU time of `work` grows more than linearly with the size of its input. */
export function outgrows<Given>(
  size: number,
  make: (size: number) => Given,
  work: (given: Given) => unknown,
): boolean {
  const [part, whole] = [make(Math.ceil(size / growth)), make(size)]
  const isSlow = () => {
    const cost = cpuOf(() => work(whole))
    return cost > minMicroseconds && cost > maxTimes * cpuOf(() => work(part))
  }
  // One slow run may be garbage collection: three times as long on a busy machine.
  return Array.from({ length: 8 }).every(isSlow)
}
