import { buildConnector, errors } from 'undici'
import { ConnectionPool } from '#runtime/http1/connection-pool.ts'
import { AnswerTimeout } from '#runtime/http1/http-connection.ts'
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
  pool: ConnectionPool
  hostname: string
  /** Host name and port. */
  host: string
  /** Prefix of every path. */
  basePath: string
}

/**
 * Shorter than the idle timeout of providers and load balancers, so that no connection is reused while they
 * close it.
 */
const keepAliveMs = 15_000

export function createUpstream(config: GatewayConfig): Upstream {
  const origin = new URL(config.UPSTREAM_URL)
  const { hostname, host, pathname } = origin
  const pool = new ConnectionPool({
    origin,
    maxConnections: config.UPSTREAM_CONNECTIONS,
    connect: buildConnector({ timeout: config.UPSTREAM_CONNECT_TIMEOUT_MS }),
    answerMs: config.UPSTREAM_FIRST_BYTE_TIMEOUT_MS,
    bodyMs: config.UPSTREAM_IDLE_TIMEOUT_MS,
    idleMs: keepAliveMs,
    maxIdleMs: keepAliveMs,
    keepsUnfinished: true,
  })
  return { pool, hostname, host, basePath: pathname === '/' ? '' : pathname }
}

/** The call exceeded CALL_TIMEOUT_MS. */
export class CallTooLong extends Error {}

/** The wait queue is full. */
export class TooManyWaiting extends Error {}

/** The answer for the application when the provider gave none. */
export function answerForFailure(error: Error): GatewayAnswer {
  if (error instanceof TokenUnavailable) return tokenUnavailable
  if (error instanceof TooManyWaiting) return tooManyWaiting
  if (error instanceof RequestTooLarge) return requestTooLarge
  const isTimeout =
    error instanceof CallTooLong ||
    error instanceof AnswerTimeout ||
    error instanceof errors.ConnectTimeoutError
  return isTimeout ? upstreamTimeout : upstreamUnreachable
}
