import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { shapeOfPath } from '#capture/call-shapes.ts'
import type { Authorizer, Caller } from './authorize.ts'
import { splitRequestHeaders } from './forwarded-headers.ts'
import { badTarget, invalidKey, keyUnavailable, sendAnswer, type GatewayAnswer } from './gateway-answer.ts'
import { ProxyCall, type ProxyDependencies } from './proxy-call.ts'
import { createRequestIds } from './request-ids.ts'
import { readServiceHeaders } from './service-headers.ts'

export interface TrafficDependencies extends ProxyDependencies {
  authorize: Authorizer
  recordOther: boolean
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

/** The server that applications talk to. No path is its own: everything is forwarded. */
export function createTrafficServer(dependencies: TrafficDependencies): Server {
  const handle = createHandler(dependencies)
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: Math.min(headersTimeoutMs, dependencies.requestTimeoutMs),
    keepAliveTimeout: keepAliveMs,
    requestTimeout: dependencies.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(5_000, dependencies.requestTimeoutMs),
  })
  // Of any connection on which nothing moves; what that means is the call's to say (proxy-call.ts).
  server.timeout = dependencies.stallTimeoutMs
  server.maxConnections = dependencies.maxConnections
  // Otherwise a worker that is full hands a connection on to the next, for ever when all are.
  Object.assign(server, { dropMaxConnection: true })
  server.on('drop', () => dependencies.metrics.refused('connections'))
  server.on('request', handle)
  // The gateway answers this itself: what comes then is forwarded like any other body.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    handle(request, response, true),
  )
  return server
}

function createHandler(dependencies: TrafficDependencies) {
  const { authorize, credentials, recordOther, metrics, now } = dependencies
  const ids = createRequestIds()

  const refuse = (request: IncomingMessage, response: ServerResponse, answer: GatewayAnswer, id: string) => {
    // What is left of the body is not worth reading.
    if (!request.complete) response.shouldKeepAlive = false
    sendAnswer(response, answer, id)
  }

  const handle = (
    request: IncomingMessage,
    response: ServerResponse,
    isWaiting: boolean,
    caller: Caller | 'unknown' | 'unavailable',
  ): void => {
    const nowMs = now()
    const { forwarded, service } = splitRequestHeaders(request.rawHeaders, credentials?.replaces)
    const { labels, requestId, malformed } = readServiceHeaders(service, nowMs)
    const id = ids.claim(requestId, nowMs)
    if (malformed > 0) metrics.malformedHeaders(malformed)
    // A gateway of somebody else's answer adds nothing to it but the identifier.
    response.sendDate = false
    if (caller === 'unknown' || caller === 'unavailable') {
      metrics.refused('key')
      refuse(request, response, caller === 'unknown' ? invalidKey : keyUnavailable, id)
      return
    }
    const path = targetOf(request.url ?? '')
    if (path === undefined) {
      metrics.refused('target')
      refuse(request, response, badTarget, id)
      return
    }
    if (isWaiting) response.writeContinue()
    const isRecorded = recordOther || (request.method === 'POST' && shapeOfPath(path) !== null)
    const call = new ProxyCall(
      dependencies,
      { id, caller, path, headers: forwarded, labels, isRecorded },
      request,
      response,
    )
    void call.forward()
  }

  return (request: IncomingMessage, response: ServerResponse, isWaiting = false): void => {
    const caller = hasOneAuthorization(request) ? authorize(request.headers.authorization) : 'unknown'
    if (!(caller instanceof Promise)) {
      handle(request, response, isWaiting, caller)
      return
    }
    void caller.then((found) => {
      // The application may have gone while its key was looked up.
      if (!response.destroyed) handle(request, response, isWaiting, found)
    })
  }
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
