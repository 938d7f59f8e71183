import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { ambiguityOf, answerBrokenRequests, type BrokenRequest } from '#runtime/answer-broken-requests.ts'
import { newId } from '#schemas/ids.ts'
import type { Authorizer, Caller } from './authorize.ts'
import { splitRequestHeaders } from './forwarded-headers.ts'
import {
  badExpectation,
  badTarget,
  headersTooLarge,
  invalidKey,
  keyUnavailable,
  malformedRequest,
  noTunnel,
  pathNotForwarded,
  rawText,
  requestTooLarge,
  requestTooSlow,
  sendAnswer,
  unknownCoding,
  type GatewayAnswer,
} from './gateway-answer.ts'
import { isAllowedOnSharedAccount, isModelCall } from './call-paths.ts'
import type { ProxyDependencies } from './forwarded-call.ts'
import { ProxyCall } from './proxy-call.ts'
import { closeOnceRead, drainRequest } from './request-body.ts'
import { createRequestIds, isRetry } from './request-ids.ts'
import { readServiceHeaders } from './service-headers.ts'

export interface TrafficDependencies extends ProxyDependencies {
  authorize: Authorizer
  recordOther: boolean
  /** Whether what is no call of a model is forwarded too. */
  forwardOther: boolean
  /** For an application to send its request whole. */
  requestTimeoutMs: number
  /** For an application to take something of an answer that waits for it. */
  stallTimeoutMs: number
  maxConnections: number
  now: () => number
}

const maxHeaderBytes = 64 * 1024
/** A client that takes longer to send its headers is holding a connection, not making a call. */
const headersTimeoutMs = 30_000
/** Longer than load balancers keep idle connections for, so that they close them and not the gateway. */
const keepAliveMs = 75_000

/** The server that applications talk to. No path is its own: everything is forwarded, unless tenants share the account at the provider. */
export function createTrafficServer(dependencies: TrafficDependencies): Server {
  const handle = createHandler(dependencies)
  const { metrics } = dependencies
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: Math.min(headersTimeoutMs, dependencies.requestTimeoutMs),
    keepAliveTimeout: keepAliveMs,
    requestTimeout: dependencies.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(5_000, dependencies.requestTimeoutMs),
    // Looked at below: Node's own refusal is not counted and has no identifier.
    requireHostHeader: false,
  })
  // Of any connection on which nothing moves; what that means is the call's to say (proxy-call.ts).
  server.timeout = dependencies.stallTimeoutMs
  server.maxConnections = dependencies.maxConnections
  // Otherwise a worker that is full hands a connection on to the next, for ever when all are.
  Object.assign(server, { dropMaxConnection: true })
  server.on('drop', () => metrics.refused('connections'))
  server.on('request', handle)
  // The gateway answers this itself: what comes then is forwarded like any other body.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    handle(request, response, 'continue'),
  )
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    handle(request, response, 'unknown'),
  )
  server.on('connect', (_: IncomingMessage, socket: Duplex) => {
    metrics.refused('target')
    // The socket is ours from here on, its time limits too; a client that has gone needs no answer.
    socket.on('error', () => undefined)
    socket.end(rawText(noTunnel, newId('request', dependencies.now())), () => socket.destroy())
  })
  answerFaults(server, dependencies)
  return server
}

const faults: Readonly<Record<BrokenRequest, GatewayAnswer>> = {
  malformed: malformedRequest,
  headers: headersTooLarge,
  slow: requestTooSlow,
}

/** What the parser or a time limit of the server refuses is answered as all else, and counted. */
function answerFaults(server: Server, { metrics, now }: TrafficDependencies): void {
  answerBrokenRequests(server, ['request', 'checkContinue', 'checkExpectation'], (fault) => {
    const answer = faults[fault]
    if (answer.refusal !== undefined) metrics.refused(answer.refusal)
    return rawText(answer, newId('request', now()))
  })
}

/** What the application waits for before it sends the body. */
type Expectation = 'nothing' | 'continue' | 'unknown'

function createHandler(dependencies: TrafficDependencies) {
  const { authorize, credentials, recordOther, forwardOther, maxRequestBytes, metrics, now } = dependencies
  const ids = createRequestIds()

  const refuse = (
    request: IncomingMessage,
    response: ServerResponse,
    answer: GatewayAnswer,
    id: string,
    expects: Expectation,
  ) => {
    if (answer.refusal !== undefined) metrics.refused(answer.refusal)
    // Whether the body still comes cannot be known: it is not waited for.
    if (expects !== 'nothing') response.shouldKeepAlive = false
    else {
      closeOnceRead(request, response)
      drainRequest(request, maxRequestBytes)
    }
    sendAnswer(response, answer, id)
  }

  const handle = (
    request: IncomingMessage,
    response: ServerResponse,
    expects: Expectation,
    caller: Caller | 'unknown' | 'unavailable',
  ): void => {
    const nowMs = now()
    const { forwarded, service } = splitRequestHeaders(request.rawHeaders, credentials?.replaces)
    const { labels, requestId, attackMark, malformed } = readServiceHeaders(service, nowMs)
    const id = ids.claim(isRetry(request.headers) ? undefined : requestId, nowMs)
    if (malformed > 0) metrics.malformedHeaders(malformed)
    // A gateway of somebody else's answer adds nothing to it but the identifier.
    response.sendDate = false
    const path = targetOf(request.url ?? '')
    const isWithheld = path !== undefined && !forwardOther && !isAllowedOnSharedAccount(request.method, path)
    const refusal =
      refusalOf(request, expects, caller, maxRequestBytes) ?? (isWithheld ? pathNotForwarded : undefined)
    if (refusal !== undefined || typeof caller === 'string' || path === undefined) {
      refuse(request, response, refusal ?? badTarget, id, expects)
      return
    }
    if (expects === 'continue') response.writeContinue()
    const isRecorded = recordOther || (request.method === 'POST' && isModelCall(path))
    const mark = attackMark === undefined ? undefined : { text: attackMark, arrivedMs: nowMs }
    const call = new ProxyCall(
      dependencies,
      { id, caller, path, headers: forwarded, labels, mark, isRecorded },
      request,
      response,
    )
    call.forward()
  }

  return (request: IncomingMessage, response: ServerResponse, expects: Expectation = 'nothing'): void => {
    const caller = hasOneAuthorization(request) ? authorize(request.headers.authorization) : 'unknown'
    if (!(caller instanceof Promise)) {
      handle(request, response, expects, caller)
      return
    }
    void caller.then((found) => {
      // The application may have gone while its key was looked up.
      if (!response.destroyed) handle(request, response, expects, found)
    })
  }
}

/** Why a request is not forwarded, whatever its target. */
function refusalOf(
  request: IncomingMessage,
  expects: Expectation,
  caller: Caller | 'unknown' | 'unavailable',
  maxBytes: number,
): GatewayAnswer | undefined {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  if (ambiguityOf(request) !== undefined) return malformedRequest
  if (caller === 'unknown') return invalidKey
  if (caller === 'unavailable') return keyUnavailable
  if (expects === 'unknown') return badExpectation
  // The body would go on compressed with nothing that says so: the header is the connection's. Without chunked at its end it is malformed.
  if (coding !== undefined && /,\s*chunked$/i.test(coding)) return unknownCoding
  return Number(length ?? 0) > maxBytes ? requestTooLarge : undefined
}

/** Node gives the first of several `Authorization` headers; what the provider would take is not known, so there may be one. */
function hasOneAuthorization(request: IncomingMessage): boolean {
  let count = 0
  for (let at = 0; at < request.rawHeaders.length; at += 2)
    if (request.rawHeaders[at]?.toLowerCase() === 'authorization') count++
  return count === 1
}

/** Path and query, byte for byte. Of the absolute form that proxies get, what stands behind the authority. */
function targetOf(url: string): string | undefined {
  if (url.startsWith('/')) return url
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(url)?.[1]
  if (path === undefined) return undefined
  return path.startsWith('/') ? path : `/${path}`
}
