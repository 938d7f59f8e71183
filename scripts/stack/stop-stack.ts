import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '#runtime/errors.ts'
import { signalGroup } from '#infra/embedded/guarded-process.ts'
import { isAlive, readRecord, removeRecord, type StackRecord } from './stack-record.ts'
import { statePaths } from './state-directory.ts'

const PATIENCE_MS = 90_000
const GUARDS_MS = 30_000
const POLL_MS = 100

/**
 * Stops the stack of a state directory. Resolves with a message when none of its processes is left. Also ends
 * what a killed supervisor left.
 */
export async function stopStack(stateDirectory: string): Promise<string> {
  const { record: file } = statePaths(stateDirectory)
  const record = await readRecord(file)
  if (!record) return `Sluice does not run on ${stateDirectory}.`
  const { supervisor } = record
  const wasAlive = isAlive(supervisor)
  const atFirst = aliveOf(record)
  if (wasAlive) {
    process.kill(supervisor.pid, 'SIGTERM')
    await until(() => !isAlive(supervisor), PATIENCE_MS)
  }
  // Read again: the supervisor may have started more before its end.
  const later = await readRecord(file)
  const left = [...atFirst, ...(later ? aliveOf(later) : [])]
  if (wasAlive && isAlive(supervisor)) process.kill(supervisor.pid, 'SIGKILL')
  // Guards end what a killed supervisor leaves, after a moment.
  if (!(await until(() => !left.some(groupExists), GUARDS_MS))) {
    for (const pid of left) signalGroup(pid, 'SIGKILL')
    await until(() => !left.some(groupExists), GUARDS_MS)
  }
  await removeRecord(file)
  return `Sluice on ${stateDirectory} is stopped; its data stays.`
}

/** Only processes that are still the started ones: after a reboot their ids belong to others. */
function aliveOf({ processes }: StackRecord): number[] {
  return processes.flatMap(({ pid, identity }) => (pid !== null && isAlive({ pid, identity }) ? [pid] : []))
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
    return codeOf(error) !== 'ESRCH'
  }
}
