import type { buildConnector } from 'undici'
import { socketProtocolOf, speaksProtocol, type SocketProtocol } from '#capture/socket-calls.ts'
import { handshakeHead, sendHandshake, type Handshake, type HandshakeHandler } from './handshake.ts'

/** The WebSockets of an upstream. */
export interface UpstreamSockets {
  /** The protocol of a WebSocket at `path`; undefined: the upstream takes none there. */
  protocolAt(path: string): SocketProtocol | undefined
  /** Sends a handshake to `path` below the base URL, over a connection of its own. */
  open(path: string, headers: readonly string[], handler: HandshakeHandler): Handshake
}

interface Options {
  url: string
  /** Undefined: where the provider is known to have them. */
  isOn: boolean | undefined
  connect: buildConnector.connector
  answerMs: number
}

export function createUpstreamSockets({ url, isOn, connect, answerMs }: Options): UpstreamSockets {
  const origin = new URL(url)
  const basePath = origin.pathname === '/' ? '' : origin.pathname
  return {
    protocolAt(path) {
      const protocol = socketProtocolOf(path)
      const isTaken = protocol !== undefined && (isOn ?? speaksProtocol(origin.hostname, protocol))
      return isTaken ? protocol : undefined
    },
    open: (path, headers, handler) =>
      sendHandshake(
        { origin, connect, answerMs },
        handshakeHead(basePath + path, origin.host, headers),
        handler,
      ),
  }
}
