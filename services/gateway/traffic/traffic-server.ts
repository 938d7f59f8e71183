import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { answerBrokenRequests, type BrokenRequest } from '#runtime/answer-broken-requests.ts'
import type { Tracing } from '#runtime/tracing/tracing.ts'
import { newId } from '#schemas/ids.ts'
import { withKeyLabels } from '../budgets/caller-limits.ts'
import { checkOf } from '../budgets/key-guard.ts'
import { listedFor, ModelList } from '../budgets/model-list.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import type { Authorizer } from './authorize.ts'
import { findCaller, type FoundCaller } from './find-caller.ts'
import { splitRequestHeaders } from './forwarded-headers.ts'
import {
  headersTooLarge,
  malformedRequest,
  noTunnel,
  rawText,
  requestTooSlow,
  sendAnswer,
  type GatewayAnswer,
} from './gateway-answer.ts'
import { acceptSockets, asksForSocket } from '../websockets/accept-sockets.ts'
import type { SocketDependencies } from '../websockets/forwarded-socket.ts'
import { isModelCall } from './call-paths.ts'
import {
  routeOf,
  routeOfSocket,
  socketTarget,
  type Expectation,
  type RouteDependencies,
} from './find-route.ts'
import type { ProxyDependencies } from './forwarded-call.ts'
import { inQuery, readQueryKeys, withoutQueryKeys } from './query-key.ts'
import { startCallSpan } from './measure-call.ts'
import { ProxyCall } from './proxy-call.ts'
import type { IsRecordedPath } from './recorded-paths.ts'
import { closeOnceRead, drainRequest } from './request-body.ts'
import { createRequestIds, isRetry, type RequestIds } from './request-ids.ts'
import { readServiceHeaders } from './service-headers.ts'

export interface TrafficDependencies extends ProxyDependencies, SocketDependencies, RouteDependencies {
  authorize: Authorizer
  isRecordedPath: IsRecordedPath
  /** Whether the key may be in the query (PROXY_KEY_IN_QUERY). */
  keyInQuery: boolean
  /** Time limit for receiving a complete request. */
  requestTimeoutMs: number
  maxConnections: number
  tracing: Tracing | undefined
}

const maxHeaderBytes = 64 * 1024
/** A client slower than this to send its headers is holding a connection open. */
const headersTimeoutMs = 30_000
/** Keep-alive timeout. Longer than that of usual load balancers, so the peer closes first. */
const keepAliveMs = 75_000

/**
 * The server for applications. It has no paths of its own: everything is forwarded, unless tenants share the
 * account at the provider.
 */
export function createTrafficServer(dependencies: TrafficDependencies): Server {
  const ids = createRequestIds()
  const handle = createHandler(dependencies, ids)
  const { metrics } = dependencies
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: Math.min(headersTimeoutMs, dependencies.requestTimeoutMs),
    keepAliveTimeout: keepAliveMs,
    requestTimeout: dependencies.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(5_000, dependencies.requestTimeoutMs),
    // Checked below: Node's own refusal is not counted and has no identifier.
    requireHostHeader: false,
    // Other upgrades are answered as the request that comes with them.
    shouldUpgradeCallback: (request) =>
      asksForSocket(request) && socketTarget(request, dependencies) !== undefined,
  })
  // Fires for any idle connection; the call decides what it means (proxy-call.ts).
  server.timeout = dependencies.stallTimeoutMs
  server.maxConnections = dependencies.maxConnections
  // Otherwise a full worker passes the connection to the next, endlessly when all are full.
  Object.assign(server, { dropMaxConnection: true })
  server.on('drop', () => metrics.refused('connections'))
  server.on('request', handle)
  // The gateway answers this itself, and forwards the body like any other.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    handle(request, response, 'continue'),
  )
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    handle(request, response, 'unknown'),
  )
  server.on('connect', (_: IncomingMessage, socket: Duplex) => {
    metrics.refused('target')
    // Node hands over the socket without time limits or error handling.
    socket.on('error', () => undefined)
    socket.end(rawText(noTunnel, newId('request', dependencies.now())), () => socket.destroy())
  })
  acceptSockets(server, { ...dependencies, ids, route: (...given) => routeOfSocket(...given, dependencies) })
  answerFaults(server, dependencies)
  return server
}

const faults: Readonly<Record<BrokenRequest, GatewayAnswer>> = {
  malformed: malformedRequest,
  headers: headersTooLarge,
  slow: requestTooSlow,
}

/** Answers and counts what Node's parser or time limits refuse. */
function answerFaults(server: Server, { metrics, now }: TrafficDependencies): void {
  answerBrokenRequests(server, ['request', 'checkContinue', 'checkExpectation'], (fault) => {
    const answer = faults[fault]
    if (answer.refusal !== undefined) metrics.refused(answer.refusal)
    return rawText(answer, newId('request', now()))
  })
}

function createHandler(dependencies: TrafficDependencies, ids: RequestIds) {
  const { authorize, isRecordedPath, keyInQuery, metrics, tracing, now } = dependencies
  const refuse = createRefuse(dependencies)

  const handle = (
    request: IncomingMessage,
    response: ServerResponse,
    expects: Expectation,
    found: FoundCaller,
  ): void => {
    const nowMs = now()
    // From here on nothing sees it that could log, record or forward it.
    if (found.heldBy.has(inQuery)) request.url = withoutQueryKeys(request.url ?? '')
    const route = routeOf(request, expects, found, dependencies)
    const dropped = 'refusal' in route ? found.heldBy : route.upstream.droppedFor(found.heldBy)
    const { forwarded, service } = splitRequestHeaders(request.rawHeaders, dropped)
    const { labels, requestId, attackMark, malformed } = readServiceHeaders(service, nowMs)
    const id = ids.claim(isRetry(request.headers) ? undefined : requestId, nowMs)
    if (malformed > 0) metrics.malformedHeaders(malformed)
    // The answer is the provider's: the gateway adds only the identifier.
    response.sendDate = false
    if ('refusal' in route) {
      refuse(request, response, route.refusal, id, expects)
      return
    }
    const { caller, upstream, path } = route
    if (expects === 'continue') response.writeContinue()
    const isRecorded = isRecordedRequest(request.method, upstream, path) || isRecordedPath(path)
    const { limits } = caller
    const models = listedFor(limits, request.method, path)
    if (models !== undefined) {
      const list = { id, projectId: caller.projectId, upstream, path, headers: forwarded, models }
      new ModelList(dependencies, list, response).forward()
      return
    }
    const mark = attackMark === undefined ? undefined : { text: attackMark, arrivedMs: nowMs }
    const span = tracing && startCallSpan(tracing, request, id, caller)
    const call = {
      ...{ id, caller, upstream, path, headers: forwarded, mark, isRecorded, span },
      labels: limits === undefined ? labels : withKeyLabels(labels, limits),
      // A tool's call names no model.
      check:
        upstream.kind === 'mcp'
          ? undefined
          : checkOf(limits, checkedCall(request, path, upstream), dependencies.guard),
    }
    new ProxyCall(dependencies, call, request, response).forward()
  }

  return (request: IncomingMessage, response: ServerResponse, expects: Expectation = 'nothing'): void => {
    const queryKeys = keyInQuery ? readQueryKeys(request.url ?? '') : undefined
    const found = findCaller(request.rawHeaders, authorize, queryKeys)
    if (!(found instanceof Promise)) {
      handle(request, response, expects, found)
      return
    }
    void found.then((late) => {
      // The application may have disconnected meanwhile.
      if (!response.destroyed) handle(request, response, expects, late)
    })
  }
}

function checkedCall({ method, headers }: IncomingMessage, path: string, upstream: Upstream) {
  const { 'content-type': contentType, 'content-encoding': contentEncoding } = headers
  return { method, path, upstream, contentType, contentEncoding }
}

/** Whether it may call a model or a tool; which of an MCP server's requests do shows in their bodies. */
function isRecordedRequest(method: string | undefined, { kind, hostname }: Upstream, path: string): boolean {
  return method === 'POST' && (kind === 'mcp' || isModelCall(hostname, path))
}

/** Answers a request that is not forwarded. */
function createRefuse({ maxRequestBytes, metrics }: TrafficDependencies) {
  return (
    request: IncomingMessage,
    response: ServerResponse,
    answer: GatewayAnswer,
    id: string,
    expects: Expectation,
  ) => {
    if (answer.refusal !== undefined) metrics.refused(answer.refusal)
    // The body may never come: do not wait for it.
    if (expects !== 'nothing') response.shouldKeepAlive = false
    else {
      closeOnceRead(request, response)
      drainRequest(request, maxRequestBytes)
    }
    sendAnswer(response, answer, id)
  }
}
