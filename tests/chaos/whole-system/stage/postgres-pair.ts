import { join } from 'node:path'
import pg from 'pg'
import type { EmbeddedPart } from '#infra/embedded/embedded-part.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import { signalGroup } from '#infra/embedded/guarded-process.ts'
import { startPostgres } from '#infra/embedded/start-postgres.ts'
import { migrate } from '#infra/migrate.ts'
import { openLine, type CuttableLine } from '../../../support/cuttable-line.ts'
import { until } from '../../../support/until.ts'
import { copyToStandby } from './copy-to-standby.ts'

/** A server and a standby that has everything that is committed. The one behind the line serves. */
export interface PostgresPair {
  /** By way of the line: the same whichever server is behind it. */
  url: string
  line: CuttableLine
  /** SIGKILL of the server that serves; resolves when it is gone. */
  kill(): Promise<void>
  /** Starts it again on what it has written; resolves when it answers. */
  restart(): Promise<void>
  /** SIGSTOP and SIGCONT of all its processes. */
  pause(): void
  resume(): void
  /** The server is killed for good, and the standby takes its place. Once: there is no other. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

/** Durable: what it has committed has to be there after SIGKILL, and on the standby. */
export async function startPostgresPair(directory: string): Promise<PostgresPair> {
  const ports = (await freePorts(2)) as [number, number]
  const start = (name: 'first' | 'second') =>
    startPostgres({
      directory: join(directory, name),
      logFile: join(directory, `${name}.log`),
      port: ports[name === 'first' ? 0 : 1],
      // When a score was stored by a clock that nobody steps (ledger/read-delays.ts).
      settings: { track_commit_timestamp: 'on' },
    })
  let serving: 'first' | 'second' = 'first'
  let server = await start('first')
  let standby: EmbeddedPart | null = null
  try {
    await migrate(server.address)
    await copyToStandby(server.address, join(directory, 'first'), join(directory, 'second'))
    standby = await start('second')
    await commitOnBoth(server.address)
  } catch (error) {
    await Promise.all([server.stop(), standby?.stop()])
    throw error
  }
  const line = await openLine(server.address)
  const kill = async () => {
    signalGroup(server.pid, 'SIGKILL')
    await server.exited
  }
  return {
    url: line.url,
    line,
    kill,
    async restart() {
      server = await start(serving)
    },
    pause: () => signalGroup(server.pid, 'SIGSTOP'),
    resume: () => signalGroup(server.pid, 'SIGCONT'),
    async failOver() {
      if (standby === null) throw new Error('there is no standby any more')
      line.cut()
      await kill()
      await query(standby.address, 'select pg_promote()')
      ;[server, standby, serving] = [standby, null, 'second']
      line.pointAt(server.address)
      line.mend()
    },
    async stop() {
      await line.close()
      await Promise.all([server.stop(), standby?.stop()])
    },
  }
}

/** From here on a commit is answered once the standby has it too. */
async function commitOnBoth(address: string): Promise<void> {
  await query(address, `alter system set synchronous_standby_names = '*'`)
  await query(address, 'select pg_reload_conf()')
  await until(async () => {
    const states = await query<{ state: string }>(
      address,
      'select sync_state as state from pg_stat_replication',
    )
    return states.some(({ state }) => state === 'sync')
  })
}

async function query<T extends pg.QueryResultRow>(address: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  try {
    return (await client.query<T>(sql)).rows
  } finally {
    await client.end()
  }
}
