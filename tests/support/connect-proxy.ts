import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { startLocalServer, type LocalServer } from './local-server.ts'
import type { TestCertificate } from './make-certificate.ts'

/** A network's egress proxy, which is outside the system: it relays bytes after CONNECT, and nothing else. */
export interface ConnectProxy extends LocalServer {
  /** Targets of CONNECT, in order, whatever became of them. */
  targets: string[]
  /** Bytes that clients sent through tunnels, as text. */
  sent: () => string
  /** The status that the next requests get instead of a tunnel. */
  refuseWith(status: number | undefined): void
}

interface Options {
  /** Where `host:port` leads: a port of this machine. Others get 502. */
  leads: ReadonlyMap<string, number>
  /** Requires them; without: asks for none. */
  credentials?: string
  /** With it clients speak TLS to the proxy. */
  certificate?: TestCertificate
}

export async function startConnectProxy({ leads, credentials, certificate }: Options): Promise<ConnectProxy> {
  const targets: string[] = []
  const sockets = new Set<Duplex>()
  let sent = ''
  let refusal: number | undefined
  const refuse = (socket: Duplex, status: number) =>
    socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 3\r\n\r\nno\n`)
  const tunnel = ({ url = '', headers }: IncomingMessage, client: Duplex, head: Buffer) => {
    targets.push(url)
    track(client, sockets)
    const given = Buffer.from((headers['proxy-authorization'] ?? '').replace(/^Basic /, ''), 'base64')
    const port = leads.get(url)
    if (refusal !== undefined) refuse(client, refusal)
    else if (credentials !== undefined && given.toString() !== credentials) refuse(client, 407)
    else if (port === undefined) refuse(client, 502)
    else {
      const server: Socket = connect(port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n')
        server.write(head)
        client.on('data', (bytes: Buffer) => (sent += bytes.toString('latin1')))
        client.pipe(server).pipe(client)
      })
      track(server, sockets)
      client.once('close', () => server.destroy())
      server.once('close', () => client.destroy())
    }
  }
  const reject = (_: IncomingMessage, response: ServerResponse) => response.writeHead(405).end()
  const server =
    certificate === undefined ? createPlainServer(reject) : createSecureServer(certificate, reject)
  server.on('connect', tunnel)
  const local = await startLocalServer(server)
  return {
    url: local.url,
    targets,
    sent: () => sent,
    refuseWith: (status) => (refusal = status),
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await local.stop()
    },
  }
}

/** An end of a tunnel that breaks is part of what is tested. */
function track(socket: Duplex, all: Set<Duplex>): void {
  all.add(socket)
  socket.on('error', () => socket.destroy())
  socket.once('close', () => all.delete(socket))
}
