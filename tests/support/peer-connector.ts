import type { Socket } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import type { buildConnector } from 'undici'
import { ConnectionPool } from '#runtime/http1/connection-pool.ts'

/** The server's end of a connection in memory. */
export interface Peer {
  end: Duplex
  /** All that came, in Latin-1. */
  heard: string
  /** The connection is made. */
  connect: () => void
  /** What the client writes from now on comes, but the client does not hear that it has gone until the function is called that this gives. */
  holdWrites: () => () => void
  /** Whether the client has let go of it. */
  isClosed: () => boolean
}

/** Makes connections in memory, each when the test says so: what happens within one turn of the event loop is the test's to order. */
export function createPeerConnector(): { connect: buildConnector.connector; peers: Peer[] } {
  const peers: Peer[] = []
  const connect: buildConnector.connector = (_options, callback) => {
    const [near, end] = duplexPair()
    const peer: Peer = {
      end,
      heard: '',
      connect: () => callback(null, near as unknown as Socket),
      holdWrites: () => holdWrites(near),
      isClosed: () => near.destroyed,
    }
    end.on('data', (bytes: Buffer) => (peer.heard += bytes.toString('latin1')))
    peers.push(peer)
  }
  return { connect, peers }
}

/** One connection at a time to `http://server.example`, which never takes too long. */
export function createPeerPool(): { pool: ConnectionPool; peers: Peer[] } {
  const { connect, peers } = createPeerConnector()
  const patience = { answerMs: Infinity, bodyMs: Infinity, idleMs: Infinity, maxIdleMs: Infinity }
  const origin = new URL('http://server.example')
  const pool = new ConnectionPool({ ...patience, origin, connect, maxConnections: 1, keepsUnfinished: true })
  return { pool, peers }
}

function holdWrites(socket: Duplex): () => void {
  const { promise: released, resolve } = Promise.withResolvers<undefined>()
  const write = socket._write.bind(socket)
  socket._write = (bytes: Buffer, encoding, callback) =>
    write(bytes, encoding, (error) => void released.then(() => callback(error)))
  return () => resolve(undefined)
}
