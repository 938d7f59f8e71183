import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const closeIdleEveryMs = 50

/**
 * Takes connections for `leadMs` more, until load balancers have seen that the process is not ready, and answers on them for the last time; then
 * takes none and resolves once every answer that has begun is over.
 */
export async function stopListening(server: Server, leadMs: number): Promise<void> {
  const sayClose = (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
  }
  server.prependListener('request', sayClose)
  // The first listener would take it upon itself to answer 100.
  if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', sayClose)
  if (server.listening) await sleep(leadMs)
  await new Promise<void>((resolve) => {
    // Connections become idle as their answers end.
    const idle = setInterval(() => server.closeIdleConnections(), closeIdleEveryMs)
    server.close(() => {
      clearInterval(idle)
      resolve()
    })
    server.closeIdleConnections()
  })
}
