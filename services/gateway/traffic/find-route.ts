import type { IncomingMessage } from 'node:http'
import { ambiguityOf } from '#runtime/answer-broken-requests.ts'
import { overRate, type KeyGuard } from '../budgets/key-guard.ts'
import { withoutPrefix } from '../upstreams/find-upstream.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import type { Upstreams } from '../upstreams/upstreams.ts'
import type { Caller } from './authorize.ts'
import { isAllowedOnSharedAccount, isAllowedSocket } from './call-paths.ts'
import type { FoundCaller } from './find-caller.ts'
import {
  badExpectation,
  badTarget,
  invalidKey,
  keyUnavailable,
  malformedRequest,
  noUpstream,
  noWebSocket,
  pathNotForwarded,
  requestTooLarge,
  unknownCoding,
  upstreamNotAllowed,
  type GatewayAnswer,
} from './gateway-answer.ts'
import { inQuery } from './query-key.ts'

export interface RouteDependencies {
  upstreams: Pick<Upstreams, 'find'>
  /** Whether requests other than model calls are forwarded. */
  forwardOther: boolean
  maxRequestBytes: number
  guard: KeyGuard | undefined
}

/** What the application waits for before it sends the body. */
export type Expectation = 'nothing' | 'continue' | 'unknown'

/** Who calls which upstream with which path, or why the gateway refuses the request. */
export function routeOf(
  request: IncomingMessage,
  expects: Expectation,
  { caller, heldBy }: FoundCaller,
  { upstreams, forwardOther, maxRequestBytes, guard }: RouteDependencies,
): { caller: Caller; upstream: Upstream; path: string } | { refusal: GatewayAnswer } {
  const refusal = refusalOf(request, expects, caller, maxRequestBytes)
  if (refusal !== undefined || typeof caller === 'string') return { refusal: refusal ?? invalidKey }
  if (request.headers.upgrade?.toLowerCase() === 'websocket') return { refusal: noWebSocket }
  const target = upstreamAt(request, upstreams)
  if ('refusal' in target) return target
  const { upstream, path } = target
  const barred = barredFrom(upstream, caller, heldBy)
  if (barred !== undefined) return { refusal: barred }
  const isForwarded =
    forwardOther || upstream.kind === 'mcp' || isAllowedOnSharedAccount(request.method, path)
  if (!isForwarded) return { refusal: pathNotForwarded }
  const { limits } = caller
  const overLimit = limits !== undefined && guard !== undefined ? overRate(limits, guard) : undefined
  return overLimit === undefined ? { caller, upstream, path } : { refusal: overLimit }
}

/** The upstream that a request names, and the path there. */
function upstreamAt(
  { url = '', headers: { host }, socket }: IncomingMessage,
  upstreams: RouteDependencies['upstreams'],
): { upstream: Upstream; path: string } | { refusal: GatewayAnswer } {
  const target = targetOf(url)
  if (target === undefined) return { refusal: badTarget }
  const upstream = upstreams.find({ host, port: socket.localPort, path: target })
  if (upstream === undefined) return { refusal: noUpstream }
  return { upstream, path: withoutPrefix(target, upstream.match) }
}

/** Why a caller may not use an upstream. */
function barredFrom(
  upstream: Upstream,
  { projectId }: Caller,
  heldBy: FoundCaller['heldBy'],
): GatewayAnswer | undefined {
  // Without credentials of ours the provider may expect the query as it came.
  if (heldBy.has(inQuery) && upstream.credentials === undefined) return invalidKey
  return upstream.isFor(projectId) ? undefined : upstreamNotAllowed
}

/** The upstream that takes WebSockets at the path of a handshake. */
export function socketTarget(request: IncomingMessage, { upstreams }: RouteDependencies) {
  const target = upstreamAt(request, upstreams)
  if ('refusal' in target) return undefined
  const protocol = target.upstream.sockets.protocolAt(target.path)
  return protocol === undefined ? undefined : { ...target, protocol }
}

/** Calls on a WebSocket pass unseen: nothing there could hold a key to its limits. */
function isUncountable({ limits }: Caller): boolean {
  if (limits === undefined) return false
  return limits.models !== null || limits.monthlyBudgetUsd !== null || limits.ratePerMinute !== null
}

/** As routeOf, for the handshake of a WebSocket. */
export function routeOfSocket(
  request: IncomingMessage,
  { caller, heldBy }: FoundCaller,
  dependencies: RouteDependencies,
) {
  const refusal = refusalOf(request, 'nothing', caller, dependencies.maxRequestBytes)
  if (refusal !== undefined || typeof caller === 'string') return { refusal: refusal ?? invalidKey }
  const target = isUncountable(caller) ? undefined : socketTarget(request, dependencies)
  if (target === undefined) return { refusal: noWebSocket }
  const barred = barredFrom(target.upstream, caller, heldBy)
  if (barred !== undefined) return { refusal: barred }
  const isForwarded = dependencies.forwardOther || isAllowedSocket(target.path)
  return isForwarded ? { ...target, caller } : { refusal: pathNotForwarded }
}

/** Why a request is refused, regardless of its target. */
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
  // Transfer-Encoding is a hop-by-hop header, so the provider would get compressed bytes without notice. A
  // coding that does not end in chunked is malformed.
  if (coding !== undefined && /,\s*chunked$/i.test(coding)) return unknownCoding
  return Number(length ?? 0) > maxBytes ? requestTooLarge : undefined
}

/** Path and query, byte for byte. The absolute form of a URL loses scheme and authority. */
function targetOf(url: string): string | undefined {
  if (url.startsWith('/')) return url
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(url)?.[1]
  if (path === undefined) return undefined
  return path.startsWith('/') ? path : `/${path}`
}
