import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '#runtime/errors.ts'
import { CannotStart, type Exit } from './embedded-part.ts'

export interface ProcessPlan {
  command: string
  args: readonly string[]
  /** The whole environment of the child; left out, it has its parent's. */
  env?: NodeJS.ProcessEnv
  cwd?: string
  /** Runs it as another user; only root can. */
  account?: { uid: number; gid: number }
  /** Receives standard output and standard error, appended. */
  logFile: string
  stopSignal?: 'SIGTERM' | 'SIGINT'
  /** How long the process may take to stop before it is killed. */
  stopDeadlineMs?: number
}

export interface GuardedProcess {
  readonly pid: number
  readonly exited: Promise<Exit>
  /** Sends the signal to the whole process group. */
  signal(name: NodeJS.Signals): void
  /** Stop signal, then SIGKILL to the group after the deadline. Resolves when the process is gone. */
  readonly stop: () => Promise<void>
}

const DEFAULT_STOP_DEADLINE_MS = 15_000

/**
 * Starts a process in a group of its own, so that Ctrl-C reaches only its owner, which then stops things in order.
 * A guard beside it ends the group when the owner dies without doing so, even by SIGKILL.
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

/** Whether a command was not found. EACCES: nor was it where it could be looked for, and a folder of PATH is closed to this user. */
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
  // The leader is gone; what it left behind in its group goes too.
  signalGroup(pid, 'SIGKILL')
}

/** A group that is gone already is what the caller wanted. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

/**
 * A shell that waits for a line from us. Told "done", it leaves; at the end of file, which is how it notices that we
 * are gone, it stops the group. Unlike a parent-death signal this works on every Unix and survives a change of user.
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
  // The guard must not keep its owner alive, and may be gone before it is released.
  guard.unref()
  guard.stdin.on('error', () => undefined)
  return {
    release: () => {
      guard.stdin.end('done\n')
    },
  }
}
