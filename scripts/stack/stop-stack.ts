import { setTimeout as delay } from 'node:timers/promises'
import { signalGroup } from '#infra/embedded/guarded-process.ts'
import { isAlive, readRecord, removeRecord, type StackRecord } from './stack-record.ts'
import { statePaths } from './state-directory.ts'

const PATIENCE_MS = 90_000
const POLL_MS = 100

/**
 * Stops the stack of a state directory and resolves when none of its processes is left, with what there is to say. Works
 * also when its supervisor was killed: what that left behind is ended too.
 */
export async function stopStack(stateDirectory: string): Promise<string> {
  const { record: file } = statePaths(stateDirectory)
  const record = await readRecord(file)
  if (!record) return `Sluice does not run on ${stateDirectory}.`
  const { supervisor } = record
  const wasAlive = isAlive(supervisor)
  if (wasAlive) {
    process.kill(supervisor.pid, 'SIGTERM')
    await until(() => !isAlive(supervisor), PATIENCE_MS)
  }
  // Read again: between our first look and its end the supervisor may have started more.
  const left = processesOf((await readRecord(file)) ?? record)
  if (isAlive(supervisor)) process.kill(supervisor.pid, 'SIGKILL')
  // Guards end what a killed supervisor leaves; they take a moment.
  if (!(await until(() => left.every((pid) => !groupExists(pid)), wasAlive ? PATIENCE_MS : 20_000))) {
    for (const pid of left) signalGroup(pid, 'SIGKILL')
    await until(() => left.every((pid) => !groupExists(pid)), 5000)
  }
  await removeRecord(file)
  return `Sluice on ${stateDirectory} is stopped; its data stays.`
}

function processesOf(record: StackRecord): number[] {
  return record.processes.map(({ pid }) => pid).filter((pid) => pid !== null)
}

async function until(condition: () => boolean, patienceMs: number): Promise<boolean> {
  const started = performance.now()
  while (performance.now() - started < patienceMs) {
    if (condition()) return true
    await delay(POLL_MS)
  }
  return condition()
}

function groupExists(pid: number): boolean {
  try {
    process.kill(-pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
