import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '#runtime/errors.ts'
import { CannotStart, type Exit } from './embedded-part.ts'

export interface ProcessPlan {
  command: string
  args: readonly string[]
  /** The whole environment of the child; by default the parent's. */
  env?: NodeJS.ProcessEnv
  cwd?: string
  /** Another user to run it as; only root can. */
  account?: { uid: number; gid: number }
  /** Standard output and standard error are appended to it. */
  logFile: string
  stopSignal?: 'SIGTERM' | 'SIGINT'
  /** Time to stop before it is killed. */
  stopDeadlineMs?: number
}

export interface GuardedProcess {
  readonly pid: number
  readonly exited: Promise<Exit>
  /** Sends the signal to the whole process group. */
  signal(name: NodeJS.Signals): void
  /** Stop signal, then SIGKILL to the group after the deadline. Resolves when the process has exited. */
  readonly stop: () => Promise<void>
}

const DEFAULT_STOP_DEADLINE_MS = 15_000

/**
 * Starts a process in its own group, so that Ctrl-C reaches only its parent, which then stops things in
 * order. A guard process ends the group if the parent dies first, even by SIGKILL.
 */
export async function startGuarded(plan: ProcessPlan): Promise<GuardedProcess> {
  const child = spawnIntoLog(plan)
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve({ code, signal })
    })
  })
  const pid = await spawned(child, plan.command)
  const guard = startGuard(pid, plan)
  void exited.then(() => {
    guard.release()
  })
  let stopping: Promise<void> | undefined
  return {
    pid,
    exited,
    signal: (name) => signalGroup(pid, name),
    stop: () => (stopping ??= stopProcess(pid, exited, plan)),
  }
}

function spawnIntoLog(plan: ProcessPlan): ChildProcess {
  mkdirSync(dirname(plan.logFile), { recursive: true })
  const log = openSync(plan.logFile, 'a')
  try {
    return spawn(plan.command, plan.args, {
      detached: true,
      stdio: ['ignore', log, log],
      ...(plan.env && { env: plan.env }),
      ...(plan.cwd !== undefined && { cwd: plan.cwd }),
      ...plan.account,
    })
  } finally {
    closeSync(log)
  }
}

/**
 * Whether a command was not found. EACCES: a folder of PATH is closed to this user and no other has the
 * command.
 */
export function isMissingCommand(error: unknown, command: string): boolean {
  return codeOf(error) === 'ENOENT' || (codeOf(error) === 'EACCES' && !command.includes('/'))
}

function spawned(child: ChildProcess, command: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      reject(
        isMissingCommand(error, command)
          ? new CannotStart(`The command ${command} is not installed.`)
          : error,
      )
    })
    child.once('spawn', () => {
      resolve(child.pid as number)
    })
  })
}

async function stopProcess(pid: number, exited: Promise<Exit>, plan: ProcessPlan): Promise<void> {
  signalGroup(pid, plan.stopSignal ?? 'SIGTERM')
  const deadline = new AbortController()
  const late = delay(plan.stopDeadlineMs ?? DEFAULT_STOP_DEADLINE_MS, 'late', { signal: deadline.signal })
  const outcome = await Promise.race([exited, late])
  deadline.abort()
  await late.catch(() => 'aborted')
  if (outcome === 'late') signalGroup(pid, 'SIGKILL')
  await exited
  // The leader has exited; also end what it left in its group.
  signalGroup(pid, 'SIGKILL')
}

/** Sends a signal to a group; ignores a group that no longer exists. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

/**
 * A shell that reads a line from us. On "done" it exits; at end of file, after our death, it stops the group.
 * Unlike a parent-death signal, this works on every Unix and survives a change of user.
 */
function startGuard(pid: number, plan: ProcessPlan): { release(): void } {
  const signal = (plan.stopSignal ?? 'SIGTERM').slice(3)
  const seconds = Math.ceil((plan.stopDeadlineMs ?? DEFAULT_STOP_DEADLINE_MS) / 1000)
  const script = [
    'read -r word && exit 0',
    `kill -s ${signal} -- -${pid} 2>/dev/null || exit 0`,
    `i=0; while [ $i -lt ${seconds} ] && kill -s 0 -- -${pid} 2>/dev/null; do sleep 1; i=$((i + 1)); done`,
    `kill -s KILL -- -${pid} 2>/dev/null`,
  ].join('\n')
  const guard = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  // The guard must not keep its parent alive, and may have exited before its release.
  guard.unref()
  guard.stdin.on('error', () => undefined)
  return {
    release: () => {
      guard.stdin.end('done\n')
    },
  }
}
