import { processNames, type ProcessName } from '#schemas/services.ts'
import type { FirstProject } from './first-project.ts'
import type { Ports } from './plan-ports.ts'
import { addressOf, dashboardUrl, type PartAddresses, type StackFacts } from './plan-services.ts'

/** connection.json: addresses and credentials, read by scripts, tests and users. */
export interface Connection {
  base_url: string
  proxy_url: string
  dashboard_url: string
  project_id: string
  api_key: string
  proxy_api_key: string
  internal_api_secret: string
  kafka_brokers: PartAddresses['KAFKA_BROKERS']
  schema_registry_url: string
  database_url: string
  /** Base URLs of /healthz, /readyz and /metrics of each process. */
  operations: Readonly<Record<ProcessName, string>>
}

export function describeConnection(facts: StackFacts, project: FirstProject): Connection {
  const { ports, addresses, secrets } = facts
  return {
    base_url: addressOf(ports.api),
    proxy_url: addressOf(ports.gateway),
    dashboard_url: dashboardUrl(facts),
    ...project,
    proxy_api_key: secrets.PROXY_API_KEY.split(',')[0]?.trim() ?? '',
    internal_api_secret: secrets.INTERNAL_API_SECRET,
    kafka_brokers: addresses.KAFKA_BROKERS,
    schema_registry_url: addresses.SCHEMA_REGISTRY_URL,
    database_url: addresses.DATABASE_URL,
    operations: operationsOf(ports),
  }
}

function operationsOf(ports: Ports): Connection['operations'] {
  const addresses = processNames.map((name) => [name, addressOf(ports[`${name}Operations`])])
  return Object.fromEntries(addresses) as Connection['operations']
}
