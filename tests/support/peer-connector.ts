import type { Socket } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import type { buildConnector } from 'undici'
import { ConnectionPool } from '#runtime/http1/connection-pool.ts'

/** The server's end of an in-memory connection. */
export interface Peer {
  end: Duplex
  /** All received bytes, in Latin-1. */
  heard: string
  /** Completes the connection. */
  connect: () => void
  /**
   * From now on, the client's writes arrive, but their callbacks wait until the returned function is called.
   */
  holdWrites: () => () => void
  /** Whether the client has closed it. */
  isClosed: () => boolean
}

/**
 * Makes in-memory connections that complete when the test says so: for orders of events within one turn of
 * the event loop.
 */
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

/** A pool of one connection to `http://server.example` without timeouts. */
export function createPeerPool(): { pool: ConnectionPool; peers: Peer[] } {
  const { connect, peers } = createPeerConnector()
  const timeouts = { answerMs: Infinity, bodyMs: Infinity, idleMs: Infinity, maxIdleMs: Infinity }
  const origin = new URL('http://server.example')
  const pool = new ConnectionPool({ ...timeouts, origin, connect, maxConnections: 1, keepsUnfinished: true })
  return { pool, peers }
}

function holdWrites(socket: Duplex): () => void {
  const { promise: released, resolve } = Promise.withResolvers<undefined>()
  const write = socket._write.bind(socket)
  socket._write = (bytes: Buffer, encoding, callback) =>
    write(bytes, encoding, (error) => void released.then(() => callback(error)))
  return () => resolve(undefined)
}
