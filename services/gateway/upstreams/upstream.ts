import type { Dispatcher } from 'undici'
import { createEgressConnector, type Connector } from '#runtime/egress/egress-connector.ts'
import { ConnectionPool } from '#runtime/http1/connection-pool.ts'
import type { AnswerHandler, Exchange } from '#runtime/http1/outgoing-call.ts'
import { outgoingRequest } from '#runtime/http1/request-head.ts'
import type { Log } from '#runtime/log.ts'
import type { GatewayConfig } from '../config.ts'
import type { GatewayMetrics } from '../metrics.ts'
import { TooManyWaiting, UpstreamOpen } from '../traffic/call-failures.ts'
import { createCallQueue, type Permit } from '../traffic/call-queue.ts'
import { createDropped } from '../traffic/find-caller.ts'
import type { ForwardedBody } from '../traffic/request-body.ts'
import { createUpstreamSockets, type UpstreamSockets } from '../websockets/upstream-sockets.ts'
import { createBreaker, noBreaker, type Breaker } from './breaker.ts'
import { createCredentials } from './create-credentials.ts'
import type { UpstreamMatch } from './find-upstream.ts'
import type { Presented, UpstreamCredentials } from './upstream-credentials.ts'
import type { UpstreamEntry, UpstreamKind } from './upstreams-file.ts'

/** A model provider, or another server, to which calls are forwarded. */
export interface Upstream {
  name: string
  kind: UpstreamKind
  match: UpstreamMatch
  hostname: string
  /** Of records; undefined: by host name or path. */
  provider: string | undefined
  /** Undefined: the application's own credentials are forwarded. */
  credentials: UpstreamCredentials | undefined
  /** The application's headers that are not forwarded, of a call whose key those headers hold. */
  droppedFor: ReturnType<typeof createDropped>
  /** Calls `start` when the call may be sent, possibly at once; an error if it may not. */
  enter(projectId: string | undefined, start: (permit: Permit) => void): Permit | Error
  /** The credentials for a request; undefined: it has its own. */
  present(request: ForwardedRequest): Presented | Promise<Presented> | undefined
  /** Sends a call to `path` below the base URL. */
  send(request: ForwardedRequest, handler: AnswerHandler): Exchange
  sockets: UpstreamSockets
  /** Told how each call that was sent went. */
  breaker: Breaker
  /** Whether no call runs or waits. */
  isIdle(): boolean
  /** Closes all connections; calls under way fail. */
  close(): Promise<void>
  /** Whether that project may call it. */
  isFor(projectId: string | undefined): boolean
}

interface ForwardedRequest {
  method: string
  path: string
  headers: string[]
  body: ForwardedBody
}

export interface UpstreamDependencies {
  config: GatewayConfig
  /** Holds secrets that UPSTREAMS_FILE names. */
  environment: NodeJS.ProcessEnv
  /** For requests to identity providers. */
  outside: Dispatcher
  /** For requests to metadata services beside the gateway. */
  direct: Dispatcher
  metrics: GatewayMetrics
  log: Log
}

/**
 * Shorter than the idle timeout of providers and load balancers, so that no connection is reused while they
 * close it.
 */
const keepAliveMs = 15_000

export function createUpstream(entry: UpstreamEntry, dependencies: UpstreamDependencies): Upstream {
  const { config, metrics } = dependencies
  const { hostname, host, pathname } = new URL(entry.url)
  const basePath = pathname === '/' ? '' : pathname
  // Workers share limits equally. Those of the configuration are divided already.
  const shareOf = (limit: number | undefined) =>
    limit === undefined ? undefined : Math.ceil(limit / config.GATEWAY_WORKERS)
  const maxConnections = shareOf(entry.connections) ?? config.UPSTREAM_CONNECTIONS
  const timeout = entry.connect_timeout_ms ?? config.UPSTREAM_CONNECT_TIMEOUT_MS
  const connect = createEgressConnector(config, { timeout })
  const answerMs = entry.first_byte_timeout_ms ?? config.UPSTREAM_FIRST_BYTE_TIMEOUT_MS
  const pool = createPool(entry, { connect, answerMs, maxConnections }, config)
  const queue = createCallQueue({
    maxRunning: maxConnections,
    maxWaiting: shareOf(entry.max_waiting) ?? config.UPSTREAM_MAX_WAITING,
    isShared: config.GATEWAY_AUTH === 'project_keys',
    onWaiting: (change) => metrics.waiting(change),
  })
  const breaker = createBreakerOf(entry, dependencies)
  const credentials = createCredentials(entry, dependencies)
  const kind = entry.kind ?? 'model'
  return {
    name: entry.name,
    kind,
    match: { hosts: entry.hosts, port: entry.port, prefix: entry.path_prefix },
    hostname,
    provider: entry.provider,
    credentials,
    droppedFor: createDropped(credentials?.replaces, kind),
    enter: (projectId, start) =>
      breaker.mayTry()
        ? (queue.acquire(projectId, start) ?? new TooManyWaiting('too many calls are waiting'))
        : new UpstreamOpen('the upstream gives no answers'),
    present: (request) => {
      if (credentials === undefined) return undefined
      const { path, ...rest } = request
      return credentials.present({ ...rest, target: basePath + path, host })
    },
    send: ({ path, ...request }, handler) =>
      pool.send(outgoingRequest({ ...request, target: basePath + path, host }), handler),
    sockets: createUpstreamSockets({ url: entry.url, isOn: entry.websockets, connect, answerMs }),
    breaker,
    isFor: createIsFor(entry.projects),
    isIdle: () => queue.isIdle(),
    close: () => pool.close(),
  }
}

interface Connecting {
  connect: Connector
  answerMs: number
  maxConnections: number
}

function createPool(entry: UpstreamEntry, connecting: Connecting, config: GatewayConfig): ConnectionPool {
  return new ConnectionPool({
    ...connecting,
    origin: new URL(entry.url),
    bodyMs: entry.idle_timeout_ms ?? config.UPSTREAM_IDLE_TIMEOUT_MS,
    idleMs: keepAliveMs,
    maxIdleMs: keepAliveMs,
    keepsUnfinished: true,
  })
}

function createBreakerOf({ name, breaker }: UpstreamEntry, { metrics, log }: UpstreamDependencies): Breaker {
  if (breaker === undefined) return noBreaker
  metrics.upstreamOpen(name, false)
  return createBreaker({
    failures: breaker.failures,
    openMs: breaker.open_ms,
    now: () => performance.now(),
    onChange: (isOpen) => {
      metrics.upstreamOpen(name, isOpen)
      const fields = { upstream: name }
      if (isOpen) log.error(fields, 'an upstream gives no answers: its calls are refused until it does')
      else log.info(fields, 'an upstream answers again')
    },
  })
}

function createIsFor(projects: readonly string[] | undefined): Upstream['isFor'] {
  if (projects === undefined) return () => true
  const allowed = new Set(projects)
  return (projectId) => projectId !== undefined && allowed.has(projectId)
}
