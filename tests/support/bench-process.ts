import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'

/** A part of a benchmark in a process of its own, so that nothing that is measured shares its event loop. */
export interface BenchProcess {
  pid: number
  /** Where it listens; empty for one that does not. */
  url: string
  ask<T>(order: unknown): Promise<T>
  stop(): Promise<void>
}

/** Starts a script that was written with {@link serveOrders}. */
export async function startBenchProcess(script: URL, args: readonly string[] = []): Promise<BenchProcess> {
  const child = fork(script, [...args])
  const exited = once(child, 'exit')
  const [url] = (await once(child, 'message')) as [string]
  return {
    pid: child.pid as number,
    url,
    async ask<T>(order: unknown): Promise<T> {
      const answer = once(child, 'message') as Promise<[T]>
      child.send(order as object)
      return (await answer)[0]
    },
    async stop() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Says where the process listens, answers orders one at a time, and ends with the benchmark that started it. */
export function serveOrders(url: string, answer: (order: unknown) => unknown): void {
  process.on(
    'message',
    (order) => void Promise.resolve(answer(order)).then((given) => process.send?.(given ?? null)),
  )
  process.once('disconnect', () => process.exit())
  process.send?.(url)
}

/** Linux counts in hundredths of a second. */
const microsecondsPerTick = 10_000

/** User and system time that a process and all its descendants have taken, in microseconds. */
export function cpuOfTree(pid: number): number {
  const parents = new Map<number, number>()
  const ticks = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const fields = statOf(name)
    if (fields === undefined) continue
    parents.set(Number(name), Number(fields[1]))
    // utime, stime, and those of children that have ended.
    ticks.set(
      Number(name),
      [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0),
    )
  }
  const isOfTree = (each: number): boolean =>
    each === pid || (parents.has(each) && isOfTree(parents.get(each) ?? 0))
  let total = 0
  for (const [each, count] of ticks) if (isOfTree(each)) total += count
  return total * microsecondsPerTick
}

/** The same of one process alone; undefined when there is none of this id. */
export function cpuOfProcess(pid: number): number | undefined {
  const fields = statOf(String(pid))
  return fields && (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick
}

/** Resident bytes of one process. */
export function residentBytes(pid: number): number {
  const pages = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]
  return Number(pages) * 4_096
}

/** Fields of /proc/pid/stat from the third on; undefined when the process has gone meanwhile. */
function statOf(pid: string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
