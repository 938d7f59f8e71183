import { readFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import { Agent as TlsAgent, request as requestTls } from 'node:https'
import type { AddressInfo } from 'node:net'
import { listen } from '#runtime/operations-server.ts'
import { serveOrders } from './bench-process.ts'

/** Lower bound for the gateway: node:http in and out, connected by pipes. Reads and records nothing. */
const upstream = new URL(process.argv[2] ?? '')
const settings = { keepAlive: true, maxSockets: Infinity }
/** Path of the provider's certificate, for a provider over HTTPS. */
const pemFile = process.argv[3]
const [agent, forward] =
  pemFile === undefined
    ? [new Agent(settings), request]
    : [new TlsAgent({ ...settings, ca: readFileSync(pemFile) }), requestTls]

const server = createServer((incoming, response) => {
  const { method, url, headers } = incoming
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
  incoming.pipe(onwards)
})
server.keepAliveTimeout = 60_000
await listen(server, 0, '127.0.0.1')
serveOrders(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => null)
