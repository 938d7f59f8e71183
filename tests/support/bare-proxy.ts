import { Agent, createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen } from '#runtime/operations-server.ts'
import { serveOrders } from './bench-process.ts'

/** The floor of the gateway: node:http in, node:http out, pipes between, nothing looked at and nothing recorded. */
const upstream = new URL(process.argv[2] ?? '')
const agent = new Agent({ keepAlive: true, maxSockets: Infinity })

const server = createServer((request, response) => {
  const { method, url, headers } = request
  const onwards = forward(
    {
      agent,
      host: upstream.hostname,
      port: upstream.port,
      method,
      path: url,
      headers: { ...headers, host: upstream.host },
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(response)
    },
  )
  onwards.on('error', () => response.destroy())
  request.pipe(onwards)
})
server.keepAliveTimeout = 60_000
await listen(server, 0, '127.0.0.1')
serveOrders(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => null)
