import { join } from 'node:path'
import type { Environment } from '#runtime/config.ts'
import { definitionOf, processNames, type ProcessName } from '#schemas/services.ts'
import type { PortName, Ports } from './plan-ports.ts'
import type { Secrets } from './secrets.ts'

/** Where the stack's broker, registry and database are, as services are told. */
export interface PartAddresses {
  KAFKA_BROKERS: string
  SCHEMA_REGISTRY_URL: string
  DATABASE_URL: string
}

export interface ServicePlan {
  name: string
  /** From the root of the repository; run as `node <script>`. */
  script: string
  /** What the process listens on for its work; null: nothing. */
  port: number | null
  /** Answers 200 once the process serves. */
  readyUrl: string
  environment: Environment
}

export interface StackFacts {
  ports: Ports
  addresses: PartAddresses
  secrets: Secrets
  spoolDirectory: string
  /** What the user has set; it reaches every service. */
  environment: Environment
}

export interface ServicePlans {
  api: ServicePlan
  /** They need the parts, and nothing of one another. */
  consumers: ServicePlan[]
  /** Undefined when UPSTREAM_URL names a real one. */
  demoUpstream: ServicePlan | undefined
  gateway: (serviceApiKey: string) => ServicePlan
  dashboard: ServicePlan
}

const HOST = '127.0.0.1'

/** Those that are not started with the consumers: each has its own place in the order. */
const FRONT = ['gateway', 'api', 'dashboard']

export function planServices(facts: StackFacts): ServicePlans {
  const { ports, environment } = facts
  const demonstrates = !isSet(environment['UPSTREAM_URL'])
  return {
    api: planService('api', facts),
    consumers: processNames.filter((name) => !FRONT.includes(name)).map((name) => planService(name, facts)),
    dashboard: planService('dashboard', facts),
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
      // What the user has set wins: Node takes the last of each.
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

/** Where people reach the dashboard; `localhost` because that is what they type. */
export function dashboardUrl({ environment, ports }: Pick<StackFacts, 'environment' | 'ports'>): string {
  const given = environment['DASHBOARD_URL']
  return isSet(given) ? given : `http://localhost:${ports.dashboard}`
}

export function addressOf(port: number): string {
  return `http://${HOST}:${port}`
}

/** An empty variable means the same as none: that is how compose files and shells write it. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}

function shared(facts: StackFacts): Environment {
  const { addresses, secrets, environment } = facts
  const ours = { ...addresses, ...secrets, DASHBOARD_URL: dashboardUrl(facts) }
  // A key for some other stack in the user's shell would only make this one's gateway fail.
  const withheld = new Set([
    'SERVICE_API_KEY',
    'SERVICE_API_KEY_FILE',
    ...Object.keys(ours).map((name) => `${name}_FILE`),
  ])
  const passed = Object.entries(environment).filter(([name]) => !withheld.has(name))
  // No load balancer has to learn that it stops.
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
