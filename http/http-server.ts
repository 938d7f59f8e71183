import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { keepAliveTimeoutMs, listen } from '#runtime/operations-server.ts'
import { stopListening } from '#runtime/stop-listening.ts'
import { answerWithProblems, refuseAmbiguous } from './answer-broken-requests.ts'

export interface HttpServer {
  start(): Promise<void>
  /** Stops taking requests after `leadMs` and waits for those under way. */
  stop(): Promise<void>
  /** The port that it listens on; 0 before it does. */
  port: () => number
}

export function createHttpServer(
  handler: RequestListener,
  options: { host: string; port: number; leadMs: number },
): HttpServer {
  const server = createServer(
    { keepAliveTimeout: keepAliveTimeoutMs, requireHostHeader: false },
    refuseAmbiguous(handler),
  )
  answerWithProblems(server)
  return {
    start: () => listen(server, options.port, options.host),
    stop: () => stopListening(server, options.leadMs),
    port: () => (server.address() as AddressInfo | null)?.port ?? 0,
  }
}
