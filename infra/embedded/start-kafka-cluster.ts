import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Exit, Say } from './embedded-part.ts'
import { fetchJars } from './fetch-jars.ts'
import { freePorts } from './free-port.ts'
import type { GuardedProcess } from './guarded-process.ts'
import type { BrokerPlace } from './kafka-properties.ts'
import { awaitBrokers, brokerAddress, keptClusterId, launchBroker } from './start-kafka.ts'

export interface KafkaClusterOptions {
  /** Three for replication 3 and `min.insync.replicas` 2. */
  brokers: number
  directory: string
  cacheDirectory: string
  say: Say
  /**
   * Starts a proxy in front of the broker on `port` and returns its port for clients. Brokers reach each
   * other directly.
   */
  inFrontOf?: (port: number) => Promise<number>
}

/** One broker of a cluster. Restarts keep its address. */
export interface ClusterBroker {
  readonly nodeId: number
  readonly address: string
  readonly logFile: string
  /** A controlled shutdown. */
  readonly stop: () => Promise<void>
  /** SIGKILL: a crash to its peers and clients. */
  kill(): Promise<Exit>
  /** SIGSTOP and SIGCONT: alive but silent. */
  pause(): void
  resume(): void
  /** Starts it again on its data. Resolves when it has rejoined the cluster. */
  restart(): Promise<void>
}

export interface KafkaCluster {
  readonly brokers: readonly ClusterBroker[]
  readonly addresses: string[]
  readonly stop: () => Promise<void>
}

/**
 * Starts a KRaft cluster on free loopback ports, each broker in its own process, for tests of broker loss.
 */
export async function startKafkaCluster(options: KafkaClusterOptions): Promise<KafkaCluster> {
  const jars = await fetchJars(options.cacheDirectory, options.say)
  await mkdir(options.directory, { recursive: true })
  const clusterId = await keptClusterId(options.directory)
  const places = await placeBrokers(options)
  const addresses = places.map(brokerAddress)
  const running = new Map<number, GuardedProcess>()
  const launch = async (place: BrokerPlace) => {
    running.set(place.nodeId, await launchBroker({ place, quorum: places, clusterId, jars }))
  }
  const stop = async () => {
    // Together: one after the other, the last ones could not hand over their leaderships without a quorum.
    await Promise.all([...running.values()].map((broker) => broker.stop()))
  }
  const awaitOne = async (place: BrokerPlace, asked: string[]) => {
    await awaitBrokers(asked, places.length, {
      name: `Kafka broker ${place.nodeId}`,
      process: processOf(running, place),
      logFile: place.logFile,
    })
  }
  try {
    await Promise.all(places.map(launch))
    await Promise.all(places.map((place) => awaitOne(place, [brokerAddress(place)])))
  } catch (error) {
    await stop()
    throw error
  }
  const brokers = places.map((place) =>
    clusterBroker(place, running, async () => {
      await launch(place)
      await awaitOne(place, [brokerAddress(place)])
    }),
  )
  return { brokers, addresses, stop }
}

function clusterBroker(
  place: BrokerPlace,
  running: Map<number, GuardedProcess>,
  restart: () => Promise<void>,
): ClusterBroker {
  return {
    nodeId: place.nodeId,
    address: brokerAddress(place),
    logFile: place.logFile,
    stop: () => processOf(running, place).stop(),
    kill: () => {
      const broker = processOf(running, place)
      broker.signal('SIGKILL')
      return broker.exited
    },
    pause: () => processOf(running, place).signal('SIGSTOP'),
    resume: () => processOf(running, place).signal('SIGCONT'),
    restart,
  }
}

function processOf(running: Map<number, GuardedProcess>, { nodeId }: BrokerPlace): GuardedProcess {
  const broker = running.get(nodeId)
  if (!broker) throw new Error(`broker ${nodeId} was never started`)
  return broker
}

async function placeBrokers(options: KafkaClusterOptions): Promise<BrokerPlace[]> {
  const { brokers, directory, inFrontOf } = options
  const ports = await freePorts(brokers * 3)
  const places = Array.from({ length: brokers }, async (_unused, index) => {
    const [port, controllerPort, clientPort] = ports.slice(index * 3) as [number, number, number]
    return {
      nodeId: index + 1,
      directory: join(directory, `broker-${index + 1}`),
      logFile: join(directory, `broker-${index + 1}.log`),
      port,
      controllerPort,
      ...(inFrontOf && { clients: { port: clientPort, advertisedPort: await inFrontOf(clientPort) } }),
    }
  })
  return Promise.all(places)
}
