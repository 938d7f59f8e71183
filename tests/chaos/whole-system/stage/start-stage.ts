import { randomBytes } from 'node:crypto'
import type { Kafka } from 'kafkajs'
import { createTopics, registerSchemas } from '#infra/create-topics.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createLog } from '#runtime/log.ts'
import type { ServiceProcess } from '../../../support/service-process.ts'
import { startWithUndo } from '../../../support/undo.ts'
import { createServiceClocks, type ServiceClocks } from './clock-files.ts'
import { createLossCount, type LossCount } from './count-losses.ts'
import { makeProjects, type ChaosProjects } from './make-projects.ts'
import { processNames, serviceOf } from './roster.ts'
import { mountSpoolDisks, type SpoolDisks } from './spool-disks.ts'
import { startParts, type Parts } from './start-parts.ts'
import { createServiceStarter, type ServiceStarter } from './start-services.ts'

export interface StageOptions {
  /** Logs and data; kept by its owner, or not. */
  directory: string
  registryUrl: string | undefined
  /** Calls that the limited project may still make. */
  room: number
  say: (line: string) => void
}

/** The whole system on real processes. */
export interface Stage {
  parts: Parts
  /** Of the brokers themselves, past their lines. */
  kafka: Kafka
  topicPrefix: string
  disks: SpoolDisks | null
  clocks: ServiceClocks
  services: Map<string, ServiceProcess>
  addresses: ServiceStarter
  projects: ChaosProjects
  losses: LossCount
  /** One more of a service, for as long as it is not stopped. */
  startOneMore(name: string): Promise<ServiceProcess>
  stop(): Promise<void>
}

export function startStage({ directory, registryUrl, room, say }: StageOptions): Promise<Stage> {
  return startWithUndo(async (undo) => {
    const onStarted = (stop: () => unknown) => void undo.push(stop)
    const topicPrefix = `chaos-${randomBytes(4).toString('hex')}.`
    const parts = await startParts({ directory, registryUrl, onStarted })
    say('brokers, registry and Postgres are up')
    const log = createLog('chaos', 'silent')
    const kafka = createKafka({ KAFKA_BROKERS: parts.cluster.addresses }, { clientId: 'chaos', log })
    await createTopics({ kafka, prefix: topicPrefix, replicationFactor: 3, log })
    await registerSchemas({ registryUrl: parts.registryLine.url, prefix: topicPrefix, log })
    const disks = mountSpoolDisks(directory)
    if (disks !== null) onStarted(() => disks.release())
    const clocks = createServiceClocks(directory)
    const addresses = await createServiceStarter({ directory, topicPrefix, parts, disks, clocks })
    const services = new Map<string, ServiceProcess>()
    // One step for all, because those that come later end sooner: what writes first stops first.
    onStarted(() => Promise.all([...services.values()].map((service) => service.stop())))
    const add = async (name: string, apiKey?: string) => {
      const service = await addresses.start(name, apiKey)
      services.set(name, service)
      return service
    }
    await add('api-1')
    const projects = await makeProjects(addresses, parts.receivers, parts.postgres.url, room)
    const others = processNames.filter((name) => name !== 'api-1')
    await Promise.all(
      others.map((name) => add(name, serviceOf(name) === 'gateway' ? projects.open.apiKey : undefined)),
    )
    say(`${services.size} services are up`)
    const losses = createLossCount(services)
    return {
      parts,
      kafka,
      topicPrefix,
      disks,
      clocks,
      services,
      addresses,
      projects,
      losses,
      startOneMore: add,
    }
  })
}
