import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { codeOf } from '#runtime/errors.ts'

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
  // utime, stime, and those of children that have ended.
  const ticksOf = (fields: string[]) => [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0)
  return readTree(pid).reduce((sum, { fields }) => sum + ticksOf(fields), 0) * microsecondsPerTick
}

/** Resident bytes of a process and all its descendants, what they share counted once. */
export function memoryOfTree(pid: number): number {
  return readTree(pid).reduce((sum, { id }) => sum + proportionalBytes(id), 0)
}

/** A process and all its descendants, with what Linux says of each. */
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

/** Of what several processes share (Postgres's buffers) each counts its part; 0 when it has gone meanwhile. */
function proportionalBytes(pid: number): number {
  const text = readProcess(`/proc/${pid}/smaps_rollup`) ?? ''
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1_024
}

/** Fields of /proc/pid/stat from the third on; undefined when the process has gone meanwhile. */
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
