import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen } from '#runtime/operations-server.ts'

export interface HttpServer {
  start(): Promise<void>
  /** Takes no more requests and waits for those under way. */
  stop(): Promise<void>
  /** The port that it listens on; 0 before it does. */
  port: () => number
}

// Longer than the keep-alive of usual load balancers (60 s), so that they and not we close idle connections.
const keepAliveTimeoutMs = 65_000

export function createHttpServer(
  handler: RequestListener,
  options: { host: string; port: number },
): HttpServer {
  let stopping = false
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }, (request, response) => {
    if (stopping) response.setHeader('connection', 'close')
    handler(request, response)
  })
  return {
    start: () => listen(server, options.port, options.host),
    stop: () =>
      new Promise((resolve) => {
        stopping = true
        server.close(() => resolve())
        server.closeIdleConnections()
      }),
    port: () => (server.address() as AddressInfo | null)?.port ?? 0,
  }
}
