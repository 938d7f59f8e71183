import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { EmbeddedPart } from '#infra/embedded/embedded-part.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import { startKafka } from '#infra/embedded/start-kafka.ts'
import { startPostgres } from '#infra/embedded/start-postgres.ts'
import { startRegistry } from '#infra/embedded/start-registry.ts'
import { startTogether, stopTogether } from '#infra/embedded/start-together.ts'
import { startBenchProcess } from './bench-process.ts'
import { startCountingReceiver } from './counting-receiver.ts'
import { createWebhook } from './create-webhook.ts'
import { ordinaryAnswer } from './real-prompts.ts'
import { startStack, type Stack } from './start-stack.ts'
import { startWithUndo } from './undo.ts'

export interface AnsweredCall {
  id: string
  /** Unix milliseconds at which the whole answer had arrived. */
  atMs: number
}

/** A whole system on its own Kafka, registry and Postgres, and a load for it. */
export interface Pipeline {
  stack: Stack
  database: pg.Pool
  /** Kafka's log directory. */
  kafkaLog: string
  /** The processes of each component, including later ones. */
  components: () => Record<string, number[]>
  /** Starts calls without waiting for their answers. */
  call: (count: number) => void
  answered: readonly AnsweredCall[]
  /** Deliveries to the webhook that gets all failing scores. */
  delivered: () => Promise<number>
  /** Starts one more sink and one more scorer. */
  scaleOut: () => Promise<void>
  close: () => Promise<void>
}

/** Postgres waits for the disk, as in production. */
export async function startPipeline(cacheDirectory: string): Promise<Pipeline> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-pipeline-'))
  const { stop: close, ...pipeline } = await startWithUndo(async (undo) => {
    undo.push(() => rm(directory, { recursive: true, force: true }))
    const parts = await startParts(directory, cacheDirectory)
    undo.push(() => stopTogether(parts))
    const provider = await startBenchProcess(new URL('bench-provider.ts', import.meta.url), [
      ordinaryAnswer(),
    ])
    undo.push(() => provider.stop())
    const receiver = await startCountingReceiver()
    undo.push(() => receiver.close())
    const stack = await startStack({ upstreamUrl: provider.url, insecureWebhookHosts: '127.0.0.1' })
    undo.push(() => stack.stop())
    await createWebhook(stack, `${receiver.url}/hook`)
    const database = new pg.Pool({ connectionString: stack.databaseUrl, max: 2 })
    undo.push(() => database.end())
    const more: { name: string; pid: () => number }[] = []
    const { load, answered } = await startLoad(stack)
    undo.push(() => load.kill('SIGKILL'))
    const components = () => {
      const all = [
        ...parts.map(({ name, pid }) => ({ name, pid: () => pid })),
        ...Object.values(stack.processes),
        ...more,
      ]
      return Object.fromEntries(
        [...Map.groupBy(all, ({ name }) => name)].map(([name, of]) => [name, of.map(({ pid }) => pid())]),
      )
    }
    return {
      stack,
      database,
      kafkaLog: join(directory, 'kafka', 'log'),
      components,
      call(count: number) {
        // Once a call has failed, no figure is valid.
        if (load.exitCode !== null) throw new Error('a call failed: see its error above')
        load.send(count)
      },
      answered,
      delivered: () => receiver.count(),
      async scaleOut() {
        more.push(await stack.startAnother('sink'), await stack.startAnother('scorer'))
      },
    }
  })
  return { ...pipeline, close }
}

async function startParts(directory: string, cacheDirectory: string): Promise<EmbeddedPart[]> {
  const [port = 0, controllerPort = 0, registryPort = 0, postgresPort = 0] = await freePorts(4)
  const place = (name: string) => ({
    directory: join(directory, name),
    logFile: join(directory, `${name}.log`),
  })
  const say = console.log
  const parts = await startTogether([
    () => startKafka({ ...place('kafka'), port, controllerPort, cacheDirectory, say }),
    () => startRegistry({ ...place('registry'), port: registryPort, cacheDirectory, say }),
    () => startPostgres({ ...place('postgres'), port: postgresPort }),
  ])
  const [kafka, registry, postgres] = parts as [EmbeddedPart, EmbeddedPart, EmbeddedPart]
  const found = join(directory, 'infra.json')
  const addresses = {
    brokers: [kafka.address],
    registryUrl: registry.address,
    postgresUrl: postgres.address,
  }
  await writeFile(found, JSON.stringify(addresses))
  process.env['SLUICE_TEST_INFRA'] = found
  process.env['SLUICE_TEST_RUN'] = 'bench'
  return parts
}

async function startLoad({
  gatewayUrl,
  proxyApiKey,
}: Stack): Promise<{ load: ChildProcess; answered: AnsweredCall[] }> {
  const answered: AnsweredCall[] = []
  const load = fork(new URL('pipeline-load-process.ts', import.meta.url), [gatewayUrl, proxyApiKey])
  await once(load, 'message')
  load.on('message', (call) => answered.push(call as AnsweredCall))
  return { load, answered }
}
