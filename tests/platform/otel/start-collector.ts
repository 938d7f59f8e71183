import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { access, cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePorts } from '#infra/embedded/free-port.ts'
import type { Say } from '#infra/embedded/embedded-part.ts'
import { messageOf } from '#runtime/errors.ts'
import { until } from '../../support/until.ts'
import { runProgram } from '../engine/run-program.ts'
import { CannotRun, root } from '../platform-part.ts'

const source = join(import.meta.dirname, 'collector')

/** A Collector built from its Go modules into the cache (once). Throws {@link CannotRun}. */
export async function buildCollector(cache: string, say: Say): Promise<string> {
  const files = await Promise.all(['go.mod', 'main.go'].map((name) => readFile(join(source, name))))
  const version = createHash('sha256').update(Buffer.concat(files)).digest('hex').slice(0, 12)
  const program = join(cache, 'bin', `collector-${version}`)
  const isThere = await access(program).then(
    () => true,
    () => false,
  )
  if (isThere) return program
  say('a Collector is built from its Go modules, which takes some minutes, once')
  const place = join(cache, `collector-${version}`)
  const env = { ...process.env, GOPATH: join(cache, 'go'), GOFLAGS: '-modcacherw' }
  const options = { env, cwd: place, timeoutMs: 1_800_000 }
  try {
    await mkdir(join(cache, 'bin'), { recursive: true })
    await cp(source, place, { recursive: true })
    await runProgram('go', ['mod', 'tidy'], options)
    await runProgram('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', 'collector', '.'], options)
    await rename(join(place, 'collector'), program)
  } catch (error) {
    throw new CannotRun(`a Collector cannot be built with Go: ${messageOf(error)}`, { cause: error })
  }
  return program
}

export interface CollectorOptions {
  program: string
  directory: string
  compression: string
  /** By which exporters send to it: `grpc` or `http/protobuf`. */
  protocol: string
  /** Of the address and the key that it sends to. */
  environment: Readonly<Record<'SLUICE_URL' | 'SLUICE_KEY', string>>
}

export interface Collector {
  /** Variables for exporters. */
  exporter: NodeJS.ProcessEnv
  /** Sends what it holds. */
  stop(): Promise<void>
}

/** A Collector as docs/opentelemetry.md sets it up, but for its ports and the compression. */
export async function startCollector(options: CollectorOptions): Promise<Collector> {
  const { program, directory, compression, protocol, environment } = options
  const [http, grpc] = (await freePorts(2)) as [number, number]
  const [given, own] = [join(directory, 'documented.yaml'), join(directory, `${compression}.yaml`)]
  await writeFile(given, await documented())
  // Its settings come over those of the first.
  await writeFile(
    own,
    `receivers: {otlp: {protocols: {http: {endpoint: 127.0.0.1:${http}}, grpc: {endpoint: 127.0.0.1:${grpc}}}}}
exporters: {otlp_http/sluice: {compression: ${compression}}}
service: {telemetry: {metrics: {level: none}}}
`,
  )
  const child = spawn(program, ['--config', given, '--config', own], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const exited = once(child, 'exit')
  await until(() => {
    if (child.exitCode !== null) throw new Error(`the Collector has ended: ${log.slice(-1_000)}`)
    return log.includes('Everything is ready')
  })
  const address = `http://127.0.0.1:${protocol === 'grpc' ? grpc : http}`
  return {
    exporter: {
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: protocol === 'grpc' ? address : `${address}/v1/traces`,
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: '',
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

async function documented(): Promise<string> {
  const page = await readFile(join(root, 'docs', 'opentelemetry.md'), 'utf8')
  const [, configuration] = /```yaml\n(receivers:.*?)```/s.exec(page) ?? []
  if (configuration === undefined) throw new Error('docs/opentelemetry.md has no configuration')
  return configuration
}
