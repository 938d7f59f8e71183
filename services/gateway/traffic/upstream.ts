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
  /** Name and port. */
  host: string
  /** What goes before every path. */
  basePath: string
}

/** Shorter than what providers and load balancers keep idle connections for, so that none is used while they close it. */
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
    error instanceof AnswerTimeout ||
    error instanceof errors.ConnectTimeoutError
  return isTimeout ? upstreamTimeout : upstreamUnreachable
}
