import { join } from 'node:path'
import { freePorts } from '#infra/embedded/free-port.ts'
import { startKafkaCluster, type KafkaCluster } from '#infra/embedded/start-kafka-cluster.ts'
import { startRegistry } from '#infra/embedded/start-registry.ts'
import { openLine, type CuttableLine } from '../../../support/cuttable-line.ts'
import { startMockJudge } from '../../../support/mock-judge.ts'
import { startMockProvider } from '../../../support/mock-provider.ts'
import { startPostgresPair, type PostgresPair } from './postgres-pair.ts'
import { startReceivers, type Receivers } from './receivers.ts'

const cacheDirectory = join(import.meta.dirname, '..', '..', '..', '..', '.cache')

/** What the services stand on and talk to, each reached by a line that can be cut. */
export interface Parts {
  cluster: KafkaCluster
  /** In the order of the cluster's brokers. */
  brokerLines: readonly CuttableLine[]
  registryLine: CuttableLine
  postgres: PostgresPair
  /** The judge is a model of somebody else's: it is mocked, like the provider and the receivers. */
  judgeLine: CuttableLine
  providerUrl: string
  receivers: Receivers
}

export interface PartsOptions {
  directory: string
  /** A registry that runs already; absent: one of its own. */
  registryUrl: string | undefined
  /** Told how each is ended, in the order of starting. */
  onStarted: (stop: () => unknown) => void
}

export async function startParts({ directory, registryUrl, onStarted }: PartsOptions): Promise<Parts> {
  const started = <T>(part: T, stop: () => Promise<unknown>): T => {
    onStarted(stop)
    return part
  }
  const line = async (url: string) => {
    const opened = await openLine(url)
    return started(opened, () => opened.close())
  }
  const startBrokers = async () => {
    const lines = new Map<number, CuttableLine>()
    const cluster = await startKafkaCluster({
      brokers: 3,
      directory: join(directory, 'kafka'),
      cacheDirectory,
      say: () => undefined,
      inFrontOf: async (port) => {
        const opened = await line(`tcp://127.0.0.1:${port}`)
        lines.set(port, opened)
        return Number(new URL(opened.url).port)
      },
    })
    return { cluster: started(cluster, cluster.stop), brokerLines: [...lines.values()] }
  }
  const registry = async () => {
    if (registryUrl !== undefined) return registryUrl
    const [port] = (await freePorts(1)) as [number]
    const place = { directory: join(directory, 'registry'), logFile: join(directory, 'registry.log') }
    const part = await startRegistry({ ...place, port, cacheDirectory, say: () => undefined })
    return started(part, part.stop).address
  }
  const [brokers, registryAddress, postgres, provider, judge, receivers] = await Promise.all([
    startBrokers(),
    registry(),
    startPostgresPair(join(directory, 'postgres')).then((pair) => started(pair, () => pair.stop())),
    startMockProvider().then((mock) => started(mock, () => mock.stop())),
    startMockJudge().then((mock) => started(mock, () => mock.stop())),
    startReceivers().then((both) => started(both, () => both.close())),
  ])
  const [registryLine, judgeLine] = [await line(registryAddress), await line(judge.url)]
  return { ...brokers, registryLine, postgres, judgeLine, providerUrl: provider.url, receivers }
}
