import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIPv6, type AddressInfo } from 'node:net'
import { codeOf, messageOf } from './errors.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { healthStatus, type Health } from './service.ts'

export interface OperationsServer {
  port: number
  close(): Promise<void>
}

/**
 * Keep-alive timeout. Longer than a load balancer's usual 60 s and Prometheus's interval, so the peer closes
 * first. With Node's 5 s a busy process closed connections on which a request was arriving, and that request
 * failed.
 */
export const keepAliveTimeoutMs = 65_000

/**
 * Serves `/healthz` (200 while the process can continue), `/readyz` (200 while it serves) and `/metrics`, for
 * supervisors and Prometheus. They reveal nothing recorded and need no key.
 */
export async function startOperationsServer(options: {
  host: string
  port: number
  health: () => Health
  metrics: Metrics
  /** Replaces the text of `metrics`. */
  metricsText?: (() => Promise<string>) | undefined
  log: Log
}): Promise<OperationsServer> {
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }, (request, response) => {
    // No request may end the process.
    answer(request, response, options).catch((error: unknown) => {
      options.log.error({ err: error, path: request.url }, 'health request failed')
      refuse(response, 500, 'this question could not be answered; the log says why')
    })
  })
  await listen(server, options.port, options.host)
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/**
 * Listens on 0.0.0.0 for `::` on a host without IPv6. Rejects with a sentence that names the address if it
 * cannot bind.
 */
export async function listen(server: Server, port: number, host: string): Promise<void> {
  try {
    await listenOn(server, port, host)
  } catch (error) {
    if (host === '::' && noIPv6.has(codeOf(error))) return listen(server, port, '0.0.0.0')
    const place = isIPv6(host) ? `[${host}]` : host
    throw new Error(`cannot listen on ${place}:${port}: ${messageOf(error)}`, { cause: error })
  }
}

/** Linux's errors for an IPv6 socket where IPv6 is off, in the kernel or on every interface. */
const noIPv6: ReadonlySet<string> = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL'])

function listenOn(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { health, metrics, metricsText }: Parameters<typeof startOperationsServer>[0],
): Promise<void> {
  const path = request.url?.split('?', 1)[0]
  if (path === '/metrics') {
    const text = await (metricsText?.() ?? metrics.registry.metrics())
    response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text)
  } else if (path === '/healthz' || path === '/readyz') {
    const now = health()
    response
      .writeHead(healthStatus(path, now), { 'content-type': 'application/json' })
      .end(JSON.stringify(now))
  } else {
    refuse(response, 404, 'only /healthz, /readyz and /metrics are here')
  }
}

function refuse(response: ServerResponse, status: number, detail: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ detail }))
}
