import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { freePorts } from '#infra/embedded/free-port.ts'
import { startServiceProcess, type ServiceProcess } from '../../../support/service-process.ts'
import type { ServiceClocks } from './clock-files.ts'
import type { Parts } from './start-parts.ts'
import { gateways, serviceOf } from './roster.ts'
import { spoolMaxBytes, type SpoolDisks } from './spool-disks.ts'

export interface ServicesOptions {
  directory: string
  topicPrefix: string
  parts: Parts
  disks: SpoolDisks | null
  clocks: ServiceClocks
}

/** How services of this stage are started, and where they are found. */
export interface ServiceStarter {
  apiUrl: string
  ingestUrl: string
  gatewayUrls: readonly string[]
  proxyApiKey: string
  operatorSecret: string
  /** `apiKey` is for gateways. */
  start(name: string, apiKey?: string): Promise<ServiceProcess>
}

const host = '127.0.0.1'

export async function createServiceStarter(options: ServicesOptions): Promise<ServiceStarter> {
  const { directory, topicPrefix, parts, disks, clocks } = options
  const [apiPort, ingestPort, ...gatewayPorts] = (await freePorts(2 + gateways.length)) as [
    number,
    number,
    ...number[],
  ]
  const urlOf = (port: number) => `http://${host}:${port}`
  const operatorSecret = randomBytes(16).toString('hex')
  const proxyApiKey = `proxy-${randomBytes(8).toString('hex')}`
  const spoolKey = randomBytes(32).toString('base64')
  const shared = {
    // At `info` each score is a line: millions in an hour.
    LOG_LEVEL: 'warn',
    KAFKA_BROKERS: parts.brokerLines.map(({ url }) => new URL(url).host).join(','),
    SCHEMA_REGISTRY_URL: parts.registryLine.url,
    DATABASE_URL: parts.postgres.url,
    TOPIC_PREFIX: topicPrefix,
    BODY_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    WEBHOOK_ALLOW_INSECURE: host,
    OPENAI_BASE_URL: parts.judgeLine.url,
    OPENAI_API_KEY: 'a-key-of-the-judge',
  }
  const spoolOf = (name: string) => disks?.directoryOf(name) ?? join(directory, `spool-${name}`)
  const ownOf = (name: string, apiKey: string): Record<string, string> => {
    switch (serviceOf(name)) {
      case 'api':
        return { API_HOST: host, API_PORT: String(apiPort), INTERNAL_API_SECRET: operatorSecret }
      case 'ingest':
        return { INGEST_HOST: host, INGEST_PORT: String(ingestPort), INTERNAL_API_SECRET: operatorSecret }
      case 'gateway':
        return {
          GATEWAY_HOST: host,
          GATEWAY_PORT: String(gatewayPorts[Number(name.slice(-1)) - 1]),
          UPSTREAM_URL: parts.providerUrl,
          PROXY_API_KEY: proxyApiKey,
          API_BACKEND_URL: urlOf(apiPort),
          SERVICE_API_KEY: apiKey,
          SPOOL_DIR: spoolOf(name),
          SPOOL_KEY: spoolKey,
          SPOOL_MAX_BYTES: String(spoolMaxBytes),
        }
      default:
        return {}
    }
  }
  return {
    apiUrl: urlOf(apiPort),
    ingestUrl: urlOf(ingestPort),
    gatewayUrls: gatewayPorts.map(urlOf),
    proxyApiKey,
    operatorSecret,
    async start(name, apiKey = '') {
      const [operationsPort] = (await freePorts(1)) as [number]
      return startServiceProcess({
        name: serviceOf(name),
        operationsPort,
        environment: {
          ...shared,
          ...ownOf(name, apiKey),
          NODE_OPTIONS: `--trace-warnings ${clocks.optionOf(name)}`,
        },
        logFile: join(directory, `${name}.log`),
        readyDeadlineMs: 240_000,
      })
    },
  }
}
