import { join } from 'node:path'
import { freePorts } from '#infra/embedded/free-port.ts'
import { signalGroup } from '#infra/embedded/guarded-process.ts'
import { startPostgres } from '#infra/embedded/start-postgres.ts'

/** A Postgres that a test may kill, unlike the shared one. */
export interface OwnPostgres {
  address: string
  /** See startPostgres. */
  directory: string
  /** Sends SIGKILL; resolves when it has exited. */
  kill(): Promise<void>
  startAgain(): Promise<void>
  stop(): Promise<void>
}

/** In a folder of `parent`. `durable`: commits wait for the disk, as in production. */
export async function startOwnPostgres(parent: string, durable: boolean): Promise<OwnPostgres> {
  const directory = join(parent, 'postgres')
  const [port] = (await freePorts(1)) as [number]
  // Files in its directory: System V shared memory of a killed server stays until the machine reboots.
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
