import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const closeIdleEveryMs = 50

/**
 * Accepts connections for `leadMs` more, until load balancers see that the process is not ready, and closes
 * each after its answer. Then accepts none, and resolves once every answer has ended.
 */
export async function stopListening(server: Server, leadMs: number): Promise<void> {
  const sayClose = (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
  }
  server.prependListener('request', sayClose)
  // The first listener replaces Node's own answer 100.
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
