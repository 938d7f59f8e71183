import type { Server as HttpServer } from 'node:http'
import { Server as HttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { listen } from '#runtime/operations-server.ts'

export interface LocalServer {
  /** Without a path. */
  url: string
  /** Also closes open connections. */
  stop: () => Promise<void>
}

/** Listens on a free port of the loopback interface. */
export async function startLocalServer(server: HttpServer | HttpsServer): Promise<LocalServer> {
  await listen(server, 0, '127.0.0.1')
  const protocol = server instanceof HttpsServer ? 'https' : 'http'
  return {
    url: `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
