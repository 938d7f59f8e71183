import { join } from 'node:path'
import { freePorts } from '#infra/embedded/free-port.ts'
import { signalGroup } from '#infra/embedded/guarded-process.ts'
import { startPostgres } from '#infra/embedded/start-postgres.ts'

/** A Postgres that may be killed, which the shared one must not be. */
export interface OwnPostgres {
  address: string
  /** As startPostgres has it. */
  directory: string
  /** By SIGKILL. Resolves once it is gone. */
  kill(): Promise<void>
  startAgain(): Promise<void>
  stop(): Promise<void>
}

/** In a folder of `parent`. `durable`: it waits for the disk with each commit, as in production. */
export async function startOwnPostgres(parent: string, durable: boolean): Promise<OwnPostgres> {
  const directory = join(parent, 'postgres')
  const [port] = (await freePorts(1)) as [number]
  // In its own directory: of the system's shared memory what a killed server had stays for as long as the machine is up.
  const settings = { dynamic_shared_memory_type: 'mmap' }
  const logFile = join(parent, 'postgres.log')
  const start = () => startPostgres({ directory, logFile, port, durable, settings })
  let running = await start()
  return {
    address: running.address,
    directory,
    async kill() {
      signalGroup(running.pid, 'SIGKILL')
      await running.exited
    },
    async startAgain() {
      running = await start()
    },
    stop: () => running.stop(),
  }
}
