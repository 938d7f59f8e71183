import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ISocketFactory } from 'kafkajs'

/** A name for an IPv6 address that holds no colon, and that no DNS has. */
const literal = '.ipv6-literal.net'
/** As kafkajs has it. */
const keepAliveDelayMs = 60_000

/**
 * kafkajs cuts `host:port` at the first colon, so a broker `[fd00::1]:9093` is given to it as
 * `fd00--1.ipv6-literal.net:9093`.
 */
export function withoutColons(broker: string): string {
  return broker.replace(
    /^\[(.*)\]:/,
    (_whole, address: string) => `${address.replaceAll(':', '-')}${literal}:`,
  )
}

/** Connects as kafkajs does, and knows what {@link withoutColons} wrote. */
export const connectBroker: ISocketFactory = ({ host: given, port, ssl, onConnect }) => {
  const host = given.endsWith(literal) ? given.slice(0, -literal.length).replaceAll('-', ':') : given
  const place = { host, port }
  // kafkajs says `false` where there is no TLS, which its type does not say.
  const tls = ssl as typeof ssl | false | undefined
  const named = isIP(host) === 0 ? { servername: host } : {}
  const socket = tls ? connectTls({ ...place, ...named, ...tls }, onConnect) : connect(place, onConnect)
  socket.setKeepAlive(true, keepAliveDelayMs)
  return socket
}
