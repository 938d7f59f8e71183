import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePorts } from '#infra/embedded/free-port.ts'
import { startTemporary } from '#infra/embedded/start-temporary.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createLog } from '#runtime/log.ts'
import { startReceivers } from '../chaos/whole-system/fixture/receivers.ts'
import { serviceOf } from '../chaos/whole-system/fixture/roster.ts'
import type { ComparedSystem } from '../chaos/whole-system/ledger/compared-system.ts'
import type { PlatformContext } from '../platform/platform-part.ts'
import { openLine } from '../support/cuttable-line.ts'
import { startMockJudge } from '../support/mock-judge.ts'
import { startMockProvider } from '../support/mock-provider.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts'

const host = '127.0.0.1'
/** Until clients have stopped sending to what is about to stop. */
const leadMs = 500

/** Kafka, the registry and Postgres, and over them processes of more than one version. */
export interface UpgradeSystem extends Omit<ComparedSystem, 'projects'> {
  /** Where clients send at this moment: to all that serve. */
  addresses: {
    apiUrl: string
    loggingUrls: readonly string[]
    gatewayUrls: readonly string[]
    proxyApiKey: string
    operatorSecret: string
  }
  /**
   * Starts `sink-1` and the like from a version's folder. A name that ran before has its port and spool
   * again.
   */
  start(version: string, names: readonly string[], apiKey?: string): Promise<void>
  /** Clients send elsewhere, then SIGTERM. Answers with the exit codes. */
  stop(names: readonly string[]): Promise<(number | null)[]>
  /** A version's `scripts/migrate`; answers with what it printed. */
  migrate(version: string, ...options: string[]): Promise<string>
}

export async function startSystem({ jars, say, undo }: PlatformContext): Promise<UpgradeSystem> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-upgrade-'))
  undo.push(() => rm(directory, { recursive: true, force: true }))
  const infrastructure = await startTemporary(jars, say)
  const [provider, judge, receivers] = await Promise.all([
    startMockProvider(),
    startMockJudge(),
    startReceivers(),
  ])
  const [apiPort] = (await freePorts(1)) as [number]
  // The API's address for gateways stays the same, as behind a load balancer.
  const backend = await openLine(`http://${host}:${apiPort}`)
  const services = new Map<string, ServiceProcess>()
  undo.push(
    infrastructure.stop,
    () => Promise.all([provider.stop(), judge.stop(), receivers.close(), backend.close()]),
    () => Promise.all([...services.values()].map((service) => service.stop())),
  )
  const topicPrefix = `upgrade-${randomBytes(4).toString('hex')}.`
  const shared = {
    LOG_LEVEL: 'warn',
    KAFKA_BROKERS: infrastructure.brokers.join(),
    SCHEMA_REGISTRY_URL: infrastructure.registryUrl,
    DATABASE_URL: infrastructure.postgresUrl,
    TOPIC_PREFIX: topicPrefix,
    BODY_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    WEBHOOK_ALLOW_INSECURE: host,
    OPENAI_BASE_URL: judge.url,
    OPENAI_API_KEY: 'a-key-of-the-judge',
  }
  const addresses = {
    apiUrl: '',
    loggingUrls: [] as string[],
    gatewayUrls: [] as string[],
    proxyApiKey: `proxy-${randomBytes(8).toString('hex')}`,
    operatorSecret: randomBytes(16).toString('hex'),
  }
  const ports = new Map([['api-1', apiPort]])
  const urlsOf = (service: string) =>
    [...services.keys()]
      .filter((name) => serviceOf(name) === service)
      .map((name) => `http://${host}:${ports.get(name)}`)
  const pointClients = () => {
    addresses.apiUrl = urlsOf('api').at(-1) ?? ''
    addresses.loggingUrls = [...urlsOf('api'), ...urlsOf('ingest')]
    addresses.gatewayUrls = urlsOf('gateway')
    backend.pointAt(addresses.apiUrl)
  }
  const spoolKey = randomBytes(32).toString('base64')
  const environmentOf = (name: string, port: string, apiKey: string): Record<string, string> => {
    const { proxyApiKey, operatorSecret } = addresses
    switch (serviceOf(name)) {
      case 'api':
        return { API_HOST: host, API_PORT: port, INTERNAL_API_SECRET: operatorSecret }
      case 'ingest':
        return { INGEST_HOST: host, INGEST_PORT: port, INTERNAL_API_SECRET: operatorSecret }
      case 'gateway':
        return {
          GATEWAY_HOST: host,
          GATEWAY_PORT: port,
          UPSTREAM_URL: provider.url,
          PROXY_API_KEY: proxyApiKey,
          API_BACKEND_URL: backend.url,
          SERVICE_API_KEY: apiKey,
          SPOOL_DIR: join(directory, `spool-${name}`),
          SPOOL_KEY: spoolKey,
        }
      default:
        return {}
    }
  }
  const startOne = async (version: string, name: string, apiKey: string) => {
    const [fresh, operationsPort] = (await freePorts(2)) as [number, number]
    const port = ports.get(name) ?? fresh
    ports.set(name, port)
    const environment = { ...shared, ...environmentOf(name, String(port), apiKey) }
    const logFile = join(directory, `${name}.log`)
    const service = await startServiceProcess({
      root: version,
      name: serviceOf(name),
      operationsPort,
      environment,
      logFile,
    })
    services.set(name, service)
  }
  const log = createLog('upgrade', 'silent')
  return {
    kafka: createKafka({ KAFKA_BROKERS: infrastructure.brokers }, { clientId: 'upgrade', log }),
    topicPrefix,
    services,
    parts: { postgres: { url: infrastructure.postgresUrl }, receivers },
    addresses,
    async start(version, names, apiKey = '') {
      await Promise.all(names.map((name) => startOne(version, name, apiKey)))
      pointClients()
    },
    async stop(names) {
      const leaving = names.flatMap((name) => services.get(name) ?? [])
      for (const name of names) services.delete(name)
      pointClients()
      await sleep(leadMs)
      return Promise.all(leaving.map((service) => service.stop()))
    },
    async migrate(version, ...options) {
      const env = { ...programEnvironment(), ...shared }
      const script = join(version, 'scripts', 'migrate.ts')
      const { stdout } = await promisify(execFile)(process.execPath, [script, ...options], { env })
      return stdout
    },
  }
}
