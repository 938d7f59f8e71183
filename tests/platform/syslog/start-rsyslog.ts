import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePorts } from '#infra/embedded/free-port.ts'
import type { TestCertificate } from '../../support/make-certificate.ts'
import { until } from '../../support/until.ts'
import { unpackPackages } from '../engine/unpack-packages.ts'

/** A message as rsyslog has read it. */
export interface ReadMessage {
  pri: string
  time: string
  host: string
  app: string
  procid: string
  msgid: string
  data: string
  message: string
}

export interface Rsyslog {
  port: number
  /** With its default limits, reading RFC 5424 over TLS. */
  start(): Promise<void>
  stop(): Promise<void>
  read(): Promise<ReadMessage[]>
  /** What rsyslog says of itself. */
  log(): string
}

const fields = {
  pri: 'name="pri"',
  time: 'name="timereported" dateFormat="rfc3339"',
  host: 'name="hostname"',
  app: 'name="app-name"',
  procid: 'name="procid"',
  msgid: 'name="msgid"',
  data: 'name="structured-data"',
  message: 'name="msg"',
} as const

/** Debian's rsyslog, unpacked into the cache, with its files in `directory`. Not started. */
export async function prepareRsyslog(
  cache: string,
  directory: string,
  { key, cert }: TestCertificate,
): Promise<Rsyslog> {
  const root = await unpackPackages(cache, ['rsyslog', 'rsyslog-gnutls'])
  const [port] = (await freePorts(1)) as [number]
  const at = (name: string) => join(directory, name)
  const libraries = join(root, 'usr', 'lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`)
  await writeFile(at('key.pem'), key)
  await writeFile(at('cert.pem'), cert)
  await writeFile(at('rsyslog.conf'), configuration(directory, port))
  let running: { stop(): Promise<void> } | undefined
  let log = ''
  return {
    port,
    async start() {
      const child = spawn(
        join(root, 'usr', 'sbin', 'rsyslogd'),
        ['-n', '-f', at('rsyslog.conf'), '-i', at('pid'), '-M', join(libraries, 'rsyslog')],
        { env: { ...process.env, LD_LIBRARY_PATH: libraries }, stdio: ['ignore', 'pipe', 'pipe'] },
      )
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (log += chunk.toString()))
      const exited = once(child, 'exit')
      running = {
        stop: async () => {
          child.kill()
          await exited
        },
      }
      await until(
        () => listens(port),
        30_000,
        () => `rsyslog does not listen: ${log}`,
      )
    },
    async stop() {
      await running?.stop()
      running = undefined
    },
    async read() {
      const text = await readFile(at('received'), 'utf8').catch(() => '')
      const lines = text.split('\n').filter((line) => line !== '')
      return lines.map((line) => JSON.parse(line) as ReadMessage)
    },
    log: () => log,
  }
}

function configuration(directory: string, port: number): string {
  const properties = Object.entries(fields).map(
    ([name, property]) => `property(outname="${name}" ${property} format="jsonf")`,
  )
  const tls = ['CAFile', 'CertFile', 'KeyFile'].map(
    (name) =>
      `defaultNetstreamDriver${name}="${join(directory, name === 'KeyFile' ? 'key.pem' : 'cert.pem')}"`,
  )
  return `global(workDirectory="${directory}" defaultNetstreamDriver="gtls" ${tls.join(' ')})
module(load="imtcp" streamDriver.name="gtls" streamDriver.mode="1" streamDriver.authMode="anon")
template(name="fields" type="list" option.jsonf="on") { ${properties.join(' ')} }
input(type="imtcp" address="127.0.0.1" port="${port}")
action(type="omfile" file="${join(directory, 'received')}" template="fields")
`
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
