import { randomBytes } from 'node:crypto'
import { freePorts } from '#infra/embedded/free-port.ts'
import type { Addresses } from '#infra/embedded/start-temporary.ts'
import { definitionOf, services as defined, type ServiceName } from '#schemas/services.ts'

type Variables = Readonly<Record<string, string>>

export interface ContainerPlan {
  name: string
  args: readonly string[]
  /** Ready when this answers 200. */
  readyUrl: string
  /** Its operations port; undefined: none. */
  operationsUrl?: string
  environment: Variables
  /** A directory that it writes to. */
  writes?: string
}

export interface ImagePlan {
  /** Variables of every service and command. */
  shared: Variables
  /** In starting order. */
  services: readonly ContainerPlan[]
  /** A function, because the project and its key exist only after the API has started. */
  gateway: (serviceApiKey: string) => ContainerPlan
  api: string
  dashboardUrl: string
  gatewayUrl: string
  secrets: { operator: string; proxyKey: string }
}

const names = Object.keys(defined) as ServiceName[]
const at = (port: number) => `http://127.0.0.1:${port}`

/**
 * Every process of the image, with infrastructure on this host. Containers share its network, so each has its
 * own ports.
 */
export async function planContainers({ brokers, registryUrl, postgresUrl }: Addresses): Promise<ImagePlan> {
  const ports = await freePorts(2 * names.length + 1)
  const next = () => String(ports.pop())
  const secrets = {
    operator: randomBytes(24).toString('base64url'),
    proxyKey: `proxy-${randomBytes(8).toString('hex')}`,
  }
  const shared = {
    LOG_LEVEL: 'info',
    KAFKA_BROKERS: brokers.join(),
    SCHEMA_REGISTRY_URL: registryUrl,
    DATABASE_URL: postgresUrl,
    INTERNAL_API_SECRET: secrets.operator,
    BODY_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  }
  const [api, demo] = [next(), next()]
  const backend = { API_BACKEND_URL: at(Number(api)) }
  const served: Partial<Record<ServiceName, string>> = { api }
  const service = (name: ServiceName, own: Variables = {}): ContainerPlan => {
    const { port, callsApi, nodeOptions } = definitionOf(name)
    const operations = next()
    const operationsUrl = at(Number(operations))
    if (port !== undefined) served[name] ??= next()
    return {
      name,
      args: [...(nodeOptions === undefined ? [] : [nodeOptions]), `services/${name}/main.ts`],
      readyUrl: `${operationsUrl}/readyz`,
      operationsUrl,
      environment: {
        ...shared,
        OPS_PORT: operations,
        ...(callsApi === true && backend),
        ...(port !== undefined && { [`${name.toUpperCase()}_PORT`]: served[name] ?? '' }),
        ...own,
      },
    }
  }
  const services = [
    ...names.filter((name) => name !== 'gateway').map((name) => service(name)),
    {
      name: 'demo-upstream',
      args: ['scripts/demo-upstream.ts'],
      readyUrl: `${at(Number(demo))}/v1/models`,
      environment: { PORT: demo },
    },
  ]
  const gatewayOwn = {
    UPSTREAM_URL: at(Number(demo)),
    PROXY_API_KEY: secrets.proxyKey,
    SPOOL_DIR: '/var/lib/sluice/spool',
    SPOOL_KEY: randomBytes(32).toString('base64'),
  }
  const gatewayPlan = service('gateway', gatewayOwn)
  return {
    shared,
    services,
    gateway: (SERVICE_API_KEY) => ({
      ...gatewayPlan,
      environment: { ...gatewayPlan.environment, SERVICE_API_KEY },
      writes: gatewayOwn.SPOOL_DIR,
    }),
    api: backend.API_BACKEND_URL,
    dashboardUrl: at(Number(served.dashboard)),
    gatewayUrl: at(Number(served.gateway)),
    secrets,
  }
}
