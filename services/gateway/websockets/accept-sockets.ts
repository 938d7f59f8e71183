import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SocketProtocol } from '#capture/socket-calls.ts'
import type { Tracing } from '#runtime/tracing/tracing.ts'
import type { Authorizer, Caller } from '../traffic/authorize.ts'
import { withKeyLabels } from '../budgets/caller-limits.ts'
import { findCaller, type FoundCaller } from '../traffic/find-caller.ts'
import { splitRequestHeaders } from '../traffic/forwarded-headers.ts'
import { rawText, type GatewayAnswer } from '../traffic/gateway-answer.ts'
import { startCallSpan } from '../traffic/measure-call.ts'
import { inQuery, readQueryKeys, withoutQueryKeys } from '../traffic/query-key.ts'
import { isRetry, type RequestIds } from '../traffic/request-ids.ts'
import { readServiceHeaders } from '../traffic/service-headers.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import type { SocketDependencies } from './forwarded-socket.ts'
import { SocketCall } from './socket-call.ts'
import { protocolKeyIn, withoutProtocolKey, withProtocolKey } from './socket-headers.ts'

export interface AcceptDependencies extends SocketDependencies {
  authorize: Authorizer
  keyInQuery: boolean
  tracing: Tracing | undefined
  /** Who calls which upstream, or why the gateway refuses the handshake. */
  route: (
    request: IncomingMessage,
    found: FoundCaller,
  ) =>
    | { caller: Caller; upstream: Upstream; path: string; protocol: SocketProtocol }
    | { refusal: GatewayAnswer }
  ids: RequestIds
}

/** Whether a request asks for a WebSocket. */
export function asksForSocket({ headers, method }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Takes the handshakes that the server's `shouldUpgradeCallback` has let through. */
export function acceptSockets(server: Server, dependencies: AcceptDependencies): void {
  const { authorize, keyInQuery } = dependencies
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, first: Buffer) => {
    // Node hands over the socket without error handling, and with the time limits of its requests.
    socket.on('error', () => undefined)
    socket.removeAllListeners('timeout')
    ;(socket as Socket).setTimeout(0)
    const raw = withProtocolKey(request.rawHeaders)
    const queryKeys = keyInQuery ? readQueryKeys(request.url ?? '') : undefined
    const find = () => findCaller(raw, authorize, queryKeys)
    const take = (found: FoundCaller) => {
      if (!socket.destroyed) handle({ request, socket, first, find }, found, dependencies)
    }
    const found = find()
    if (found instanceof Promise) void found.then(take)
    else take(found)
  })
}

interface Arrived {
  request: IncomingMessage
  socket: Duplex
  first: Buffer
  find: () => FoundCaller | Promise<FoundCaller>
}

function handle(
  { request, socket, first, find }: Arrived,
  found: FoundCaller,
  dependencies: AcceptDependencies,
): void {
  const { ids, metrics, now, route, tracing } = dependencies
  const { heldBy } = found
  const nowMs = now()
  // From here on nothing sees it that could log, record or forward it.
  if (heldBy.has(inQuery)) request.url = withoutQueryKeys(request.url ?? '')
  const target = route(request, found)
  const dropped = 'refusal' in target ? heldBy : target.upstream.droppedFor(heldBy)
  const { forwarded, service } = splitRequestHeaders(request.rawHeaders, dropped)
  const { labels, requestId, malformed } = readServiceHeaders(service, nowMs)
  const id = ids.claim(isRetry(request.headers) ? undefined : requestId, nowMs)
  if (malformed > 0) metrics.malformedHeaders(malformed)
  if ('refusal' in target) {
    if (target.refusal.refusal !== undefined) metrics.refused(target.refusal.refusal)
    socket.end(rawText(target.refusal, id), () => socket.destroy())
    return
  }
  const { caller, upstream } = target
  const key = upstream.credentials === undefined ? undefined : protocolKeyIn(request.rawHeaders, heldBy)
  const headers = key === undefined ? forwarded : withoutProtocolKey(forwarded, key)
  const span = tracing && startCallSpan(tracing, request, id, caller)
  const again = () => {
    const current = find()
    return current instanceof Promise ? current.then((late) => late.caller) : current.caller
  }
  const own = caller.limits === undefined ? labels : withKeyLabels(labels, caller.limits)
  const call = { ...target, id, headers, labels: own, span, findCaller: again }
  new SocketCall(dependencies, call, socket, first).forward()
}
