import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { codeOf } from '#runtime/errors.ts'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { readJson, writeJson } from './state-directory.ts'

export type ProcessState = 'starting' | 'up' | 'restarting' | 'stopped' | 'external'

export interface ProcessStatus {
  name: string
  pid: number | null
  /** Distinguishes this process from a later one with the same id, see {@link identityOf}. */
  identity: string
  port: number | null
  state: ProcessState
  restarts: number
  /** Times of its last unexpected exits. Absent in records of older versions. */
  endedAt?: readonly string[]
  /** What answers when it is up: a URL for GET, or tcp://host:port. */
  probe: string
}

/** What runs on a state directory, recorded by its supervisor for --status and --stop. */
export interface StackRecord {
  supervisor: { pid: number; identity: string }
  portOffset: number
  phase: 'starting' | 'ready' | 'stopping'
  processes: ProcessStatus[]
}

export async function readRecord(file: string): Promise<StackRecord | undefined> {
  return (await readJson(file)) as StackRecord | undefined
}

export async function writeRecord(file: string, record: StackRecord): Promise<void> {
  await writeJson(file, record)
}

/** Throws {@link CannotStart} if a supervisor is alive on this directory. */
export async function assertNotRunning(file: string, directory: string): Promise<void> {
  const record = await readRecord(file)
  if (!record || !isAlive(record.supervisor)) return
  throw new CannotStart(
    `Sluice already runs on ${directory} (process ${record.supervisor.pid}): see scripts/up --status, end it with scripts/up --stop, or start another beside it with --state DIR and --port-offset N.`,
  )
}

export async function removeRecord(file: string): Promise<void> {
  await rm(file, { force: true })
}

/** Distinguishes a process from a later one with the same id: its start time if /proc has it, else empty. */
export function identityOf(pid: number): string {
  try {
    // Field 22 of proc_pid_stat(5), counted after the command name, which is in parentheses and may contain
    // spaces.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? ''
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ''
    throw error
  }
}

export function isAlive({ pid, identity }: { pid: number; identity: string }): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
  return identityOf(pid) === identity
}
