import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startGuarded, type GuardedProcess } from '#infra/embedded/guarded-process.ts'
import { programEnvironment } from './program-environment.ts'

const repository = join(import.meta.dirname, '..', '..')

export interface ServiceProcessOptions {
  /** The folder of the version that it is of; absent: this one. */
  root?: string
  /** A folder of services/. */
  name: string
  environment: Readonly<Record<string, string>>
  /** Port of its /readyz. */
  operationsPort: number
  logFile: string
  /** Ends a start that hangs. Longer where other parts fail at the same time. */
  readyDeadlineMs?: number
}

/** A service in its own process, restarted a second after it exits, as a supervisor would. */
export interface ServiceProcess {
  readonly name: string
  readonly operationsPort: number
  /** The current process, which leads its own process group. */
  readonly pid: () => number
  /** Unexpected exits. */
  readonly restarts: () => number
  /** Sends SIGKILL; resolves when the next process serves. */
  readonly killAndRestart: () => Promise<void>
  /** Sends SIGTERM; resolves with the exit code, null if it had to be killed. */
  readonly stop: () => Promise<number | null>
  /** Starts it again after `stop`; resolves when it serves. */
  readonly startAgain: () => Promise<void>
  /** Output of all its processes. */
  readonly output: () => Promise<string>
  readonly ready: () => Promise<void>
}

export async function startServiceProcess(options: ServiceProcessOptions): Promise<ServiceProcess> {
  const { root = repository, name, environment, operationsPort, logFile, readyDeadlineMs = 120_000 } = options
  const state = { restarts: 0, stopping: false }
  const stopping = () => state.stopping
  let startingAgain = Promise.resolve()
  let current: GuardedProcess

  const launch = async () => {
    current = await startGuarded({
      command: process.execPath,
      args: [join(root, 'services', name, 'main.ts')],
      env: {
        ...programEnvironment(),
        NODE_ENV: 'production',
        OPS_PORT: String(operationsPort),
        // No load balancer needs time to notice the stop.
        DRAIN_LEAD_MS: '0',
        // The shortest that brokers allow: tests that kill members wait for their sessions to expire.
        KAFKA_SESSION_TIMEOUT_MS: '6000',
        ...environment,
      },
      logFile,
      stopDeadlineMs: 30_000,
    })
    startingAgain = current.exited.then(async () => {
      if (stopping()) return
      state.restarts++
      await sleep(1_000)
      if (!stopping()) await launch()
    })
  }
  const output = () => readFile(logFile, 'utf8')
  const ready = () => awaitReady({ name, operationsPort, readyDeadlineMs }, output)
  const stop = async () => {
    state.stopping = true
    const ended = startingAgain
    await current.stop()
    // It may have exited by itself and be restarting.
    await ended
    await current.stop()
    return (await current.exited).code
  }
  await launch()
  try {
    await ready()
  } catch (error) {
    // Otherwise it would be restarted for ever.
    await stop()
    throw error
  }
  return {
    name,
    operationsPort,
    pid: () => current.pid,
    restarts: () => state.restarts,
    output,
    ready,
    async killAndRestart() {
      current.signal('SIGKILL')
      await current.exited
      await ready()
    },
    stop,
    async startAgain() {
      state.stopping = false
      await launch()
      await ready()
    },
  }
}

async function awaitReady(
  {
    name,
    operationsPort: port,
    readyDeadlineMs,
  }: Required<Pick<ServiceProcessOptions, 'name' | 'operationsPort' | 'readyDeadlineMs'>>,
  output: () => Promise<string>,
): Promise<void> {
  const giveUpAt = Date.now() + readyDeadlineMs
  while (Date.now() < giveUpAt) {
    try {
      if ((await fetch(`http://127.0.0.1:${port}/readyz`)).ok) return
    } catch (error) {
      // fetch: not listening yet. Compared by name: jest's TypeError is another class than Node's.
      if ((error as Error).name !== 'TypeError') throw error
    }
    await sleep(100)
  }
  throw new Error(
    `${name} was not ready within ${readyDeadlineMs} ms; it wrote last:\n${(await output()).slice(-3_000)}`,
  )
}
