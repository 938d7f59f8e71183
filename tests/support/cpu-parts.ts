import type pg from 'pg'
import { cpuOfProcess, cpuOfTree } from './bench-process.ts'
import type { CountingReceiver } from './counting-receiver.ts'

/** CPU time in microseconds, by part. */
export type CpuParts = Readonly<Record<Part, number>>

const parts = ['service', 'postgres', 'sender', 'receiver'] as const
type Part = (typeof parts)[number]

export function mapParts(read: (part: Part) => number): CpuParts {
  return Object.fromEntries(parts.map((part) => [part, read(part)])) as CpuParts
}

export interface CpuMeter {
  read(): Promise<CpuParts>
}

export interface MeteredParts {
  servicePid: () => number
  /** Pool of the service's database, used to find its backends if they run on this machine. */
  pool: pg.Pool
  /** `application_name` of the service's connections. */
  applicationName: string
  receiver: CountingReceiver
}

/** Reads the CPU time used so far. `sender` is the calling thread. */
export function createCpuMeter({ servicePid, pool, applicationName, receiver }: MeteredParts): CpuMeter {
  const backends = new Map<number, number>()
  return {
    async read() {
      const { rows } = await pool.query<{ pid: number }>(
        'select pid from pg_stat_activity where datname = current_database() and application_name = $1',
        [applicationName],
      )
      for (const { pid } of rows) backends.set(pid, cpuOfProcess(pid) ?? backends.get(pid) ?? 0)
      const { user, system } = process.threadCpuUsage()
      return {
        service: cpuOfTree(servicePid()),
        postgres: [...backends.values()].reduce((sum, cpu) => sum + cpu, 0),
        sender: user + system,
        receiver: await receiver.cpu(),
      }
    },
  }
}
