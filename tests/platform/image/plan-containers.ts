import { randomBytes } from 'node:crypto'
import { freePorts } from '#infra/embedded/free-port.ts'
import type { Addresses } from '#infra/embedded/start-temporary.ts'
import { definitionOf, services as defined, type ServiceName } from '#schemas/services.ts'

type Variables = Readonly<Record<string, string>>

export interface ContainerPlan {
  name: string
  args: readonly string[]
  /** Where it is ready when this answers 200. */
  readyUrl: string
  /** Of operations; undefined: it has none. */
  operationsUrl?: string
  environment: Variables
  /** A directory that it writes to. */
  writes?: string
}

export interface ImagePlan {
  /** Of every service and command. */
  shared: Variables
  /** In the order in which they are started. */
  services: readonly ContainerPlan[]
  /** Only when the API answers there is a project whose key the gateway has. */
  gateway: (serviceApiKey: string) => ContainerPlan
  api: string
  dashboardUrl: string
  gatewayUrl: string
  secrets: { operator: string; proxyKey: string }
}

const names = Object.keys(defined) as ServiceName[]
const at = (port: number) => `http://127.0.0.1:${port}`

/** Every process that the image holds, with the parts on this host. Containers share its network: each has ports of its own. */
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
