/** Linear work on eight times as much costs 8 times as much, quadratic work 64 times. */
const [growth, mostTimes] = [8, 24]
/** Less is noise. */
const leastMicroseconds = 15_000

/** What a piece of work takes in microseconds of CPU, and not of time: others work on this machine too. */
export function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Whether work on what is made of a size costs more than in proportion to what is made of an eighth of it. */
export function outgrows<Given>(
  size: number,
  make: (size: number) => Given,
  work: (given: Given) => unknown,
): boolean {
  const [part, whole] = [make(Math.ceil(size / growth)), make(size)]
  const isSlow = () => {
    const cost = cpuOf(() => work(whole))
    return cost > leastMicroseconds && cost > mostTimes * cpuOf(() => work(part))
  }
  // Once may be the collector's work, three times that of a busy machine.
  return Array.from({ length: 8 }).every(isSlow)
}
