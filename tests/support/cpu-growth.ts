/** Linear work on 16 times as much costs 16 times as much, with the collector's up to 50; quadratic work 256 times. */
const [growth, maxTimes] = [16, 80]
/** Less is noise. */
const minMicroseconds = 15_000

/** What a piece of work takes in microseconds of CPU, and not of time: others work on this machine too. */
export function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Whether work on what is made of a size costs more than in proportion to what is made of a sixteenth of it. */
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
  // Once may be the collector's work, three times that of a busy machine.
  return Array.from({ length: 8 }).every(isSlow)
}
