import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Client } from 'pg'
import { freePorts } from '#infra/embedded/free-port.ts'
import { messageOf } from '#runtime/errors.ts'
import { unpackDebian } from './debian-package.ts'
import { firstThere } from './first-there.ts'
import { until } from './until.ts'

export interface PgBouncer {
  /** The database's URL through the pooler. */
  url: string
  stop(): Promise<void>
}

/** PgBouncer with default configuration and `settings` (such as `pool_mode`) in front of the database. */
export async function startPgBouncer(
  databaseUrl: string,
  settings: Readonly<Record<string, string>>,
): Promise<PgBouncer> {
  const { program, libraries } = await findProgram()
  const [port] = (await freePorts(1)) as [number]
  const target = new URL(databaseUrl)
  const directory = await mkdtemp(join(tmpdir(), 'sluice-pgbouncer-'))
  const password = decodeURIComponent(target.password)
  await writeFile(join(directory, 'users.txt'), `"${target.username}" "${password}"\n`)
  await writeFile(join(directory, 'pgbouncer.ini'), configuration({ directory, port, target, settings }))
  // It refuses to run as root, so another user must read its files.
  await chmod(directory, 0o755)
  const child = spawn(program, [join(directory, 'pgbouncer.ini')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, LD_LIBRARY_PATH: libraries },
  })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => (log += String(chunk)))
  const exited = once(child, 'exit')
  const url = Object.assign(new URL(databaseUrl), { host: `127.0.0.1:${port}` }).href
  const stop = async () => {
    child.kill('SIGKILL')
    await exited
    await rm(directory, { recursive: true })
  }
  await until(
    () => answers(url),
    30_000,
    () => `PgBouncer does not answer: ${log}`,
  )
  return { url, stop }
}

interface Configuration {
  directory: string
  port: number
  target: URL
  settings: Readonly<Record<string, string>>
}

function configuration({ directory, port, target, settings }: Configuration): string {
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(directory, 'users.txt'),
    ...(process.getuid?.() === 0 && { user: 'nobody' }),
    ...settings,
  }
  const written = Object.entries(lines).map(([name, value]) => `${name} = ${value}`)
  return `[databases]\n* = host=${target.hostname} port=${target.port}\n[pgbouncer]\n${written.join('\n')}\n`
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => undefined)
  return client.connect().then(
    () => client.end().then(() => true),
    () => false,
  )
}

/** From PATH, or from Debian's package and its libraries, unpacked under .cache once. */
async function findProgram(): Promise<{ program: string; libraries: string }> {
  const places = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  const found = await firstThere(places.map((directory) => join(directory, 'pgbouncer')))
  if (found !== undefined) return { program: found, libraries: process.env['LD_LIBRARY_PATH'] ?? '' }
  try {
    const unpacked = await unpackDebian('pgbouncer', /^lib(?:c-?ares|event)/)
    const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
    return {
      program: join(unpacked, 'usr', 'sbin', 'pgbouncer'),
      libraries: join(unpacked, 'usr', 'lib', `${architecture}-linux-gnu`),
    }
  } catch (error) {
    throw new Error(
      `PgBouncer is needed and cannot be fetched (${messageOf(error)}): install Debian's package "pgbouncer"`,
      { cause: error },
    )
  }
}
