import { join } from 'node:path'
import type { Environment } from '#runtime/config.ts'
import { definitionOf, processNames, type ProcessName } from '#schemas/services.ts'
import type { PortName, Ports } from './plan-ports.ts'
import type { Secrets } from './secrets.ts'

/** Addresses of the broker, registry and database for the services. */
export interface PartAddresses {
  KAFKA_BROKERS: string
  SCHEMA_REGISTRY_URL: string
  DATABASE_URL: string
}

export interface ServicePlan {
  name: string
  /** Relative to the root of the repository; run as `node <script>`. */
  script: string
  /** The port that it serves; null: none. */
  port: number | null
  /** Answers 200 when the process serves. */
  readyUrl: string
  environment: Environment
}

export interface StackFacts {
  ports: Ports
  addresses: PartAddresses
  secrets: Secrets
  spoolDirectory: string
  /** The user's variables, which every service gets. */
  environment: Environment
}

export interface ServicePlans {
  api: ServicePlan
  /** They need the parts, but not each other. */
  consumers: ServicePlan[]
  /** Undefined if UPSTREAM_URL names a real one. */
  demoUpstream: ServicePlan | undefined
  gateway: (serviceApiKey: string) => ServicePlan
  dashboard: ServicePlan
}

const HOST = '127.0.0.1'

/** Services that start in their own order, not with the consumers. */
const FRONT = ['gateway', 'api', 'dashboard']

export function planServices(facts: StackFacts): ServicePlans {
  const { ports, environment } = facts
  const demonstrates = !isSet(environment['UPSTREAM_URL'])
  return {
    api: planService('api', facts),
    consumers: processNames.filter((name) => !FRONT.includes(name)).map((name) => planService(name, facts)),
    dashboard: planService('dashboard', facts, { GATEWAY_URL: gatewayUrl(facts) }),
    demoUpstream: demonstrates ? planDemoUpstream(ports.demoUpstream) : undefined,
    gateway: (serviceApiKey) =>
      planService('gateway', facts, {
        UPSTREAM_URL: upstreamUrl(facts),
        API_BACKEND_URL: environment['API_BACKEND_URL'] ?? addressOf(ports.api),
        SERVICE_API_KEY: serviceApiKey,
        SPOOL_DIR: environment['SPOOL_DIR'] ?? facts.spoolDirectory,
      }),
  }
}

function planService(name: ProcessName, facts: StackFacts, own: Environment = {}): ServicePlan {
  const { ports, environment } = facts
  const definition = definitionOf(name)
  const port = definition.port === undefined ? null : ports[name as PortName]
  const operationsPort = ports[`${name}Operations`]
  const variable = name.toUpperCase()
  return {
    name,
    script: join('services', name, 'main.ts'),
    port,
    readyUrl: `http://${HOST}:${operationsPort}/readyz`,
    environment: {
      ...shared(facts),
      OPS_PORT: String(operationsPort),
      ...(port !== null && {
        [`${variable}_PORT`]: String(port),
        [`${variable}_HOST`]: environment[`${variable}_HOST`] ?? HOST,
      }),
      ...(definition.callsApi === true && { API_BACKEND_URL: addressOf(ports.api) }),
      // The user's options win: Node takes the last of each.
      ...(definition.nodeOptions !== undefined && {
        NODE_OPTIONS: `${definition.nodeOptions} ${environment['NODE_OPTIONS'] ?? ''}`.trim(),
      }),
      ...definition.environment,
      ...own,
    },
  }
}

export function upstreamUrl({ environment, ports }: Pick<StackFacts, 'environment' | 'ports'>): string {
  const given = environment['UPSTREAM_URL']
  return isSet(given) ? given : addressOf(ports.demoUpstream)
}

/** The dashboard's URL for users; `localhost` because that is what they type. */
export function dashboardUrl({ environment, ports }: Pick<StackFacts, 'environment' | 'ports'>): string {
  const given = environment['DASHBOARD_URL']
  return isSet(given) ? given : `http://localhost:${ports.dashboard}`
}

function gatewayUrl({ environment, ports }: StackFacts): string {
  const given = environment['GATEWAY_URL']
  return isSet(given) ? given : `http://localhost:${ports.gateway}`
}

export function addressOf(port: number): string {
  return `http://${HOST}:${port}`
}

/** An empty variable counts as unset: compose files and shells pass unset ones so. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}

function shared(facts: StackFacts): Environment {
  const { addresses, secrets, environment } = facts
  const ours = { ...addresses, ...secrets, DASHBOARD_URL: dashboardUrl(facts) }
  // A key of another stack in the user's shell would only break this one's gateway.
  const withheld = new Set([
    'SERVICE_API_KEY',
    'SERVICE_API_KEY_FILE',
    ...Object.keys(ours).map((name) => `${name}_FILE`),
  ])
  const passed = Object.entries(environment).filter(([name]) => !withheld.has(name))
  // No load balancer needs time to notice the stop.
  return { DRAIN_LEAD_MS: '0', ...Object.fromEntries(passed), ...ours }
}

function planDemoUpstream(port: number): ServicePlan {
  return {
    name: 'demo-upstream',
    script: join('scripts', 'demo-upstream.ts'),
    port,
    readyUrl: `${addressOf(port)}/v1/models`,
    environment: { PORT: String(port), HOST },
  }
}
