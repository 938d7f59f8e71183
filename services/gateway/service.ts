import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import type { Dispatcher } from 'undici'
import { readVersion } from '#runtime/read-version.ts'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { listen } from '#runtime/operations-server.ts'
import type { Health, Service } from '#runtime/service.ts'
import type { Tracing } from '#runtime/tracing/tracing.ts'
import { createKeyGuard } from './budgets/create-key-guard.ts'
import { captureMaxBytes } from './capture-limit.ts'
import type { GatewayConfig } from './config.ts'
import { createAgents } from './create-agents.ts'
import { keyCredential, secretCredential } from './delivery/credentials.ts'
import { createHeartbeat, type GatewayReport, type Heartbeat } from './delivery/heartbeat.ts'
import { createSender } from './delivery/create-sender.ts'
import type { Sender } from './delivery/sender.ts'
import { createGatewayMetrics, type GatewayMetrics } from './metrics.ts'
import { createAttackMarks } from './recording/attack-marks.ts'
import { createLeftOut, type LeftOut } from './recording/left-out.ts'
import { createRecorders } from './recording/mcp/create-recorders.ts'
import type { Recorder, RecorderDependencies } from './recording/recorder.ts'
import { createStripBodies } from './recording/without-bodies.ts'
import { createOwn, refuseLimitedTier } from './projects/create-own.ts'
import type { OwnProject } from './projects/own-project.ts'
import { createSpoolKeyRule, type SpoolKeyRule } from './masking/spool-key-rule.ts'
import { createSpool } from './spool/create-spool.ts'
import type { Spool } from './spool/spool.ts'
import { createBudget, createCallers, forwardsOther } from './traffic/create-callers.ts'
import { drainServer, drainTimes } from './traffic/drain-server.ts'
import { createEarlyHeaders } from './traffic/early-headers.ts'
import { createLiveCalls, type LiveCalls } from './traffic/live-calls.ts'
import { createTrafficServer } from './traffic/traffic-server.ts'
import { createUpstreams, type Upstreams } from './upstreams/upstreams.ts'

export interface GatewayDependencies {
  log: Log
  metrics: Metrics
  clock: Clock
  tracing?: Tracing | undefined
  /** Holds secrets that UPSTREAMS_FILE names. */
  environment?: NodeJS.ProcessEnv
  /** Its number among GATEWAY_WORKERS. */
  worker?: number
}

export interface Gateway extends Service {
  /** The port for applications, once it has started. */
  port(): number
}

/** How long a stopping gateway still sends; the rest stays on disk. */
const sendOnStopMs = 3_000

/** Wires the gateway, which forwards calls, records them on disk, and sends the records to the API. */
export function createGateway(
  config: GatewayConfig,
  { worker = 1, environment = {}, ...dependencies }: GatewayDependencies,
): Gateway {
  const { log, metrics: registry, clock, tracing } = dependencies
  const metrics = createGatewayMetrics(registry)
  const now = () => clock.now()
  const { backend, outside, closeAgents } = createAgents(config)
  const upstreams = createUpstreams({ config, environment, outside, direct: backend, metrics, log })
  const own = createOwn(config, backend, { log, now })
  const stripBodies = createStripBodies(own && (() => own.settings()))
  const spool = createSpool(config, { metrics, log, clock, stripBodies })
  const spoolKeyRule = createSpoolKeyRule(config.SPOOL_KEY !== undefined, { own, metrics, log })
  const { sender, close } = createSender(config, { spool, metrics, backend, own, stripBodies }, dependencies)
  const guard = createKeyGuard(config, backend, { log, now })
  const leftOut = createLeftOut((reason) => metrics.leftOut(reason))
  const calls = createLiveCalls(config.CALL_TIMEOUT_MS)
  const traffic = {
    calls,
    upstreams,
    recorder: createRecorderOf(config, { spool, keep: spoolKeyRule.keep, leftOut, metrics, log }),
    isMarkedAttack: createAttackMarks(config, (outcome) => metrics.attackMark(outcome)),
    ...{ budget: createBudget(config), bufferBudget: createBudget(config) },
    earlyHeaders: createEarlyHeaders(),
    guard,
    authorize: createCallers(config, backend, { own, log, now }),
    forwardOther: forwardsOther(config, log),
    ...trafficSettings(config),
    ...{ now, metrics, log, tracing },
  }
  const listener = (port: number): Listener => ({ port, server: createTrafficServer(traffic) })
  return new GatewayService({
    config,
    log,
    servers: [listener(config.GATEWAY_PORT), ...upstreams.ports.map(listener)],
    upstreams,
    calls,
    spool,
    sender,
    own,
    spoolKeyRule,
    metrics,
    leftOut,
    backend,
    name: `${hostname()}:${config.GATEWAY_PORT}/${worker}`,
    version: readVersion(),
    startedMs: clock.now(),
    async closeClients() {
      await guard?.budgets.stop()
      await Promise.all([close(), upstreams.close(), closeAgents()])
    },
  })
}

function trafficSettings(config: GatewayConfig) {
  return {
    maxRequestBytes: config.REQUEST_MAX_BYTES,
    maxBodyBytes: captureMaxBytes(config),
    clientGone: config.CLIENT_GONE,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    stallTimeoutMs: config.ANSWER_STALL_TIMEOUT_MS,
    socketIdleMs: config.WEBSOCKET_IDLE_TIMEOUT_MS,
    maxConnections: config.GATEWAY_MAX_CONNECTIONS,
    isRecordedPath: config.GATEWAY_RECORD_OTHER,
    keyInQuery: config.PROXY_KEY_IN_QUERY,
  }
}

function createRecorderOf(
  config: GatewayConfig,
  parts: Pick<RecorderDependencies, 'spool' | 'keep' | 'leftOut' | 'metrics' | 'log'>,
): Recorder {
  return createRecorders({ ...parts, maxBodyBytes: captureMaxBytes(config), waitMs: config.SPOOL_WAIT_MS })
}

interface Listener {
  port: number
  server: Server
}

interface Parts {
  config: GatewayConfig
  log: Log
  /** For GATEWAY_PORT, then for each port of an upstream. */
  servers: [Listener, ...Listener[]]
  upstreams: Upstreams
  calls: LiveCalls
  spool: Spool
  sender: Sender
  own: OwnProject | undefined
  spoolKeyRule: SpoolKeyRule
  metrics: GatewayMetrics
  leftOut: LeftOut
  backend: Dispatcher
  /** Its name in heartbeats. */
  name: string
  version: string
  startedMs: number
  closeClients: () => Promise<unknown>
}

class GatewayService implements Gateway {
  readonly #parts: Parts
  readonly #heartbeat: Heartbeat
  readonly #ended = Promise.withResolvers<undefined>()
  readonly done: Promise<void> = this.#ended.promise
  #status: Health['status'] = 'starting'
  #sending: Promise<void> | undefined
  #stopped: Promise<void> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    const { config, backend, log, metrics } = parts
    this.#heartbeat = createHeartbeat({
      dispatcher: backend,
      url: config.API_BACKEND_URL,
      credential: (config.GATEWAY_AUTH === 'proxy_keys' ? keyCredential : secretCredential)(config),
      everyMs: config.GATEWAY_HEARTBEAT_MS,
      report: () => this.#report(),
      log,
      onFailure: () => metrics.heartbeatFailed(),
    })
  }

  async start(): Promise<void> {
    const { config, servers, upstreams, spool, sender, own, log } = this.#parts
    if (config.SPOOL_KEY === undefined) log.warn('SPOOL_KEY is not set: records wait on disk unencrypted')
    await own?.start()
    refuseLimitedTier(config, own)
    await spool.open()
    this.#sending = sender.run()
    this.#sending.catch((error: unknown) => {
      this.#status = 'failed'
      this.#ended.reject(error)
    })
    for (const { port, server } of servers) await listen(server, port, config.GATEWAY_HOST)
    upstreams.watch()
    this.#status = 'ok'
    this.#heartbeat.start()
    log.info({ host: config.GATEWAY_HOST, port: this.port() }, 'applications can call')
  }

  port(): number {
    return (this.#parts.servers[0].server.address() as AddressInfo).port
  }

  health(): Health {
    const { sender, spool, own, upstreams, spoolKeyRule } = this.#parts
    const parts = { backend: sender, spool, project: own, upstreams, masking: spoolKeyRule }
    const problems = Object.entries(parts).flatMap(([part, its]) => {
      const problem = its?.problem() ?? null
      return problem === null ? [] : [[part, problem] as const]
    })
    if (this.#status !== 'ok' || problems.length === 0) return { status: this.#status }
    return { status: 'degraded', problems: Object.fromEntries(problems) }
  }

  async #report(): Promise<GatewayReport> {
    const { config, name, version, startedMs, spool, metrics, leftOut } = this.#parts
    const { problems = {} } = this.health()
    const lost = await metrics.losses()
    return {
      name,
      version,
      delivery: config.GATEWAY_DELIVERY,
      startedMs,
      spool: spool.depth(),
      lost,
      leftOut: leftOut.counts(),
      problems,
    }
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    const { servers, calls, config, spool, sender, own, closeClients } = this.#parts
    own?.stop()
    this.#heartbeat.stop()
    if (this.#status !== 'failed') this.#status = 'stopping'
    const listening = servers.filter(({ server }) => server.listening)
    await Promise.all(listening.map(({ server }) => drainServer(server, calls, drainTimes(config))))
    sender.stop(sendOnStopMs)
    await this.#sending
    if (this.#sending !== undefined) await spool.close()
    await closeClients()
    this.#ended.resolve(undefined)
  }
}
