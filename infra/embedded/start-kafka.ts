import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Kafka, logLevel } from 'kafkajs'
import { quietQueues } from '#runtime/kafka/quiet-queues.ts'
import { awaitReady, FIRST_PATIENCE_MS, type Readiness } from './await-ready.ts'
import type { EmbeddedPart, Say, Waiting } from './embedded-part.ts'
import { fetchJars, type Jars } from './fetch-jars.ts'
import { assertPortFree } from './free-port.ts'
import type { GuardedProcess } from './guarded-process.ts'
import { kafkaProperties, type BrokerPlace } from './kafka-properties.ts'
import { startJava } from './start-java.ts'

export interface KafkaOptions extends Waiting {
  /** The broker's log directory and configuration. */
  directory: string
  logFile: string
  port: number
  controllerPort: number
  cacheDirectory: string
  say: Say
}

const LOG_CONFIGURATION = join(import.meta.dirname, 'log4j2.properties')
// Serves within 3 s in 360 MB (Java 17).
const HEAP_MB = 512

/**
 * Starts one broker that is its own controller (KRaft). Resolves when it answers. Data stays in its
 * directory.
 */
export async function startKafka(options: KafkaOptions): Promise<EmbeddedPart> {
  const jars = await fetchJars(options.cacheDirectory, options.say)
  await mkdir(options.directory, { recursive: true })
  const clusterId = await keptClusterId(options.directory)
  const place = { nodeId: 1, ...options }
  const broker = await launchBroker({ place, quorum: [place], clusterId, jars })
  const address = brokerAddress(place)
  try {
    const { logFile, patienceMs, signal } = options
    await awaitBrokers([address], 1, { name: 'Kafka', process: broker, logFile, patienceMs, signal })
  } catch (error) {
    await broker.stop()
    throw error
  }
  const { pid, exited, stop } = broker
  return { name: 'kafka', pid, address, logFile: options.logFile, exited, stop }
}

export interface BrokerLaunch {
  place: BrokerPlace
  quorum: readonly BrokerPlace[]
  clusterId: string
  jars: Jars
}

/** Formats the broker's directory if it is new and starts the process, without waiting until it serves. */
export async function launchBroker({
  place,
  quorum,
  clusterId,
  jars,
}: BrokerLaunch): Promise<GuardedProcess> {
  await assertPortFree(place.port, 'Kafka')
  await assertPortFree(place.controllerPort, 'the Kafka controller')
  await mkdir(place.directory, { recursive: true })
  const configuration = join(place.directory, 'server.properties')
  await writeFile(configuration, kafkaProperties(place, quorum))
  const program = {
    heapMb: HEAP_MB,
    logFile: place.logFile,
    classArchive: jars.classArchive('kafka'),
  }
  const java = (...args: string[]) => [
    `-Dlog4j2.configurationFile=${LOG_CONFIGURATION}`,
    '-cp',
    jars.kafkaClassPath,
    ...args,
  ]
  if (!existsSync(join(place.directory, 'log', 'meta.properties'))) {
    const args = java('kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', configuration)
    const { code } = await (await startJava({ ...program, args })).exited
    if (code !== 0) throw new Error(`Kafka could not format ${place.directory}: see ${place.logFile}`)
  }
  // If several brokers stop together, one is enough to write the class archive.
  return startJava({ ...program, args: java('kafka.Kafka', configuration), makesArchive: place.nodeId === 1 })
}

/** Waits until every broker of the cluster is registered, asking any of the addresses. */
export async function awaitBrokers(
  addresses: string[],
  count: number,
  broker: Pick<Readiness, 'name' | 'process' | 'logFile'> & Waiting,
): Promise<void> {
  quietQueues()
  const kafka = new Kafka({
    brokers: addresses,
    logLevel: logLevel.NOTHING,
    connectionTimeout: 1000,
    retry: { retries: 0 },
  })
  const probe = async () => {
    const admin = kafka.admin()
    try {
      await admin.connect()
      const { brokers, controller } = await admin.describeCluster()
      if (brokers.length < count || controller === null)
        throw new Error(`${brokers.length} of ${count} brokers are up`)
    } finally {
      await admin.disconnect()
    }
  }
  await awaitReady({ ...broker, probe, patienceMs: broker.patienceMs ?? FIRST_PATIENCE_MS })
}

export function brokerAddress(place: BrokerPlace): string {
  return `127.0.0.1:${place.port}`
}

/** The cluster's id, stored because its data requires the same at every start. */
export async function keptClusterId(directory: string): Promise<string> {
  const file = join(directory, 'cluster-id')
  if (existsSync(file)) return (await readFile(file, 'utf8')).trim()
  const bytes = randomBytes(16)
  // No leading dash, which the storage tool would take for an option.
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0)
  const id = bytes.toString('base64url')
  await writeFile(file, `${id}\n`)
  return id
}
