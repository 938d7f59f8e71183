import { readdir, readFile, stat } from 'node:fs/promises'
import { codeOf } from '#runtime/errors.ts'

/** Work of a process so far. */
export interface Work {
  /** CPU time of its process group; 0 without /proc. */
  cpuMs: number
  logBytes: number
}

/** Linux counts CPU time in hundredths of a second (USER_HZ) on every platform of Node. */
const tickMs = 10

export async function measureWork(groupId: number, logFile: string): Promise<Work> {
  return { cpuMs: await groupCpuMs(groupId), logBytes: await sizeOf(logFile) }
}

async function groupCpuMs(groupId: number): Promise<number> {
  const entries = await ifThere(readdir('/proc'), [])
  const pids = entries.filter((name) => /^\d+$/.test(name))
  const ticks = await Promise.all(pids.map((pid) => ticksOf(pid, groupId)))
  return ticks.reduce((sum, count) => sum + count, 0) * tickMs
}

/** Ticks of the process and of its children that have exited; 0 if it belongs to another group. */
async function ticksOf(pid: string, groupId: number): Promise<number> {
  const text = await ifThere(readFile(`/proc/${pid}/stat`, 'utf8'), '')
  // proc_pid_stat(5) from field 3 on. The command name before it is in parentheses and may contain spaces.
  const fields = text.split(') ').at(-1)?.split(' ') ?? []
  if (Number(fields[2]) !== groupId) return 0
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
}

async function sizeOf(file: string): Promise<number> {
  const found = await ifThere(stat(file), undefined)
  return found?.size ?? 0
}

/** `absent` if the file is missing, or its process has exited since it was listed. */
async function ifThere<T, A>(wanted: Promise<T>, absent: A): Promise<T | A> {
  try {
    return await wanted
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(codeOf(error))) return absent
    throw error
  }
}
