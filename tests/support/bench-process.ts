import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { codeOf } from '#runtime/errors.ts'

/** Part of a benchmark in its own process, so it does not share an event loop with what is measured. */
export interface BenchProcess {
  pid: number
  /** Where it listens; empty if it does not. */
  url: string
  ask<T>(order: unknown): Promise<T>
  stop(): Promise<void>
}

/** Starts a script that uses {@link serveOrders}. */
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

/** Reports the URL, answers orders one at a time, and exits with the parent process. */
export function serveOrders(url: string, answer: (order: unknown) => unknown): void {
  process.on(
    'message',
    (order) => void Promise.resolve(answer(order)).then((given) => process.send?.(given ?? null)),
  )
  process.once('disconnect', () => process.exit())
  process.send?.(url)
}

/** Linux counts CPU time in ticks of 10 ms. */
const microsecondsPerTick = 10_000

/** User and system CPU time of a process and its descendants, in microseconds. */
export function cpuOfTree(pid: number): number {
  // utime, stime, and those of children that have exited.
  const ticksOf = (fields: string[]) => [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0)
  return readTree(pid).reduce((sum, { fields }) => sum + ticksOf(fields), 0) * microsecondsPerTick
}

/** Resident bytes of a process and its descendants, shared pages counted once. */
export function memoryOfTree(pid: number): number {
  return readTree(pid).reduce((sum, { id }) => sum + proportionalBytes(id), 0)
}

/** A process and its descendants, with their fields of /proc/PID/stat. */
function readTree(pid: number): { id: number; fields: string[] }[] {
  const all = new Map<number, string[]>()
  for (const name of readdirSync('/proc')) {
    const fields = /^\d+$/.test(name) ? statOf(name) : undefined
    if (fields !== undefined) all.set(Number(name), fields)
  }
  const isOfTree = (each: number): boolean =>
    each === pid || (all.has(each) && isOfTree(Number(all.get(each)?.[1])))
  return [...all].filter(([id]) => isOfTree(id)).map(([id, fields]) => ({ id, fields }))
}

/** CPU time of one process without descendants; undefined if it does not exist. */
export function cpuOfProcess(pid: number): number | undefined {
  const fields = statOf(String(pid))
  return fields && (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick
}

/** Resident bytes of one process. */
export function residentBytes(pid: number): number {
  const pages = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]
  return Number(pages) * 4_096
}

/**
 * Proportional set size: shared pages (Postgres's buffers) are divided among processes. 0 if the process has
 * exited.
 */
function proportionalBytes(pid: number): number {
  const text = readProcess(`/proc/${pid}/smaps_rollup`) ?? ''
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1_024
}

/** Fields of /proc/PID/stat from the third on; undefined if the process has exited. */
function statOf(pid: string): string[] | undefined {
  const text = readProcess(`/proc/${pid}/stat`)
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')
}

function readProcess(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(codeOf(error))) return undefined
    throw error
  }
}
