import { errors, Pool } from 'undici'
import type { GatewayConfig } from '../config.ts'
import {
  requestTooLarge,
  tokenUnavailable,
  tooManyWaiting,
  upstreamTimeout,
  upstreamUnreachable,
  type GatewayAnswer,
} from './gateway-answer.ts'
import { RequestTooLarge } from './request-body.ts'
import { TokenUnavailable } from './upstream-credentials.ts'

export interface Upstream {
  pool: Pool
  host: string
  /** What goes before every path. */
  basePath: string
}

const maxHeaderBytes = 64 * 1024
/** Shorter than what providers and load balancers keep idle connections for, so that none is used while they close it. */
const keepAliveMs = 15_000

export function createUpstream(config: GatewayConfig): Upstream {
  const url = new URL(config.UPSTREAM_URL)
  const pool = new Pool(url.origin, {
    connections: config.UPSTREAM_CONNECTIONS,
    pipelining: 1,
    connect: { timeout: config.UPSTREAM_CONNECT_TIMEOUT_MS },
    headersTimeout: config.UPSTREAM_FIRST_BYTE_TIMEOUT_MS,
    bodyTimeout: config.UPSTREAM_IDLE_TIMEOUT_MS,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: maxHeaderBytes,
  })
  return { pool, host: url.hostname, basePath: url.pathname === '/' ? '' : url.pathname }
}

/** A call that took longer in all than it may. */
export class CallTooLong extends Error {}

/** As many calls as may wait for a connection do. */
export class TooManyWaiting extends Error {}

/** What the application is told when there is no answer to pass on. */
export function answerForFailure(error: Error): GatewayAnswer {
  if (error instanceof TokenUnavailable) return tokenUnavailable
  if (error instanceof TooManyWaiting) return tooManyWaiting
  if (error instanceof RequestTooLarge) return requestTooLarge
  const isTimeout =
    error instanceof CallTooLong ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.BodyTimeoutError
  return isTimeout ? upstreamTimeout : upstreamUnreachable
}
