import { createServer, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { startLocalServer, type LocalServer } from './local-server.ts'

/**
 * A provider with WebSockets, compressed where the client offers it. It sees every byte, and is outside the
 * system.
 */
export interface SocketProvider extends LocalServer {
  /** Handshakes as they came. */
  handshakes: IncomingMessage[]
  /** What each connection sent, from its first byte. */
  received: () => Buffer[]
  /** Called for each socket that opens. */
  onSocket(handle: (socket: WebSocket, request: IncomingMessage) => void): void
  /** Answers handshakes as this writes; undefined: accepts them. */
  refuseWith(write: ((socket: Duplex) => void) | undefined): void
}

export async function startSocketProvider(): Promise<SocketProvider> {
  const handshakes: IncomingMessage[] = []
  const received: Buffer[][] = []
  const connections: Socket[] = []
  let handle: (socket: WebSocket, request: IncomingMessage) => void = () => undefined
  let refuse: ((socket: Duplex) => void) | undefined
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: { threshold: 0 },
    handleProtocols: (protocols) => [...protocols][0] ?? false,
  })
  const server = createServer((_request, response) => response.writeHead(404).end())
  server.on('connection', (socket: Socket) => {
    connections.push(socket)
    received.push(bytesOf(socket))
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, first: Buffer) => {
    handshakes.push(request)
    if (refuse === undefined) sockets.handleUpgrade(request, socket, first, (open) => handle(open, request))
    else refuse(socket)
  })
  const local = await startLocalServer(server)
  return {
    ...local,
    handshakes,
    received: () => received.map((chunks) => Buffer.concat(chunks)),
    onSocket(given) {
      handle = given
    },
    refuseWith(given) {
      refuse = given
    },
    async stop() {
      for (const socket of connections) socket.destroy()
      await local.stop()
    },
  }
}

function bytesOf(socket: Socket): Buffer[] {
  const chunks: Buffer[] = []
  // Copied, as the library unmasks what it reads in place.
  socket.on('data', (bytes: Buffer) => chunks.push(Buffer.from(bytes)))
  return chunks
}

/** A connection for a client, whose bytes are kept. */
export function watchedConnection(port: number) {
  const sent: Buffer[] = []
  const received: Buffer[] = []
  const createConnection = () => {
    const socket = connect(port, '127.0.0.1')
    const write = socket.write.bind(socket) as (...given: unknown[]) => boolean
    socket.write = (bytes: string | Buffer, ...rest: unknown[]) => {
      sent.push(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : Buffer.from(bytes))
      return write(bytes, ...rest)
    }
    socket.prependListener('data', (bytes: Buffer) => received.push(Buffer.from(bytes)))
    return socket
  }
  return { createConnection, sent: () => Buffer.concat(sent), received: () => Buffer.concat(received) }
}

/** What follows the head of a handshake or of its answer. */
export function afterHead(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.indexOf('\r\n\r\n') + 4)
}
