import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ISocketFactory } from 'kafkajs'

/** Stands for an IPv6 address: it has no colon, and DNS never has it. */
const literal = '.ipv6-literal.net'
/** The same as in kafkajs. */
const keepAliveDelayMs = 60_000

/**
 * kafkajs cuts `host:port` at the first colon, so it gets a broker `[fd00::1]:9093` as
 * `fd00--1.ipv6-literal.net:9093`.
 */
export function withoutColons(broker: string): string {
  return broker.replace(
    /^\[(.*)\]:/,
    (_whole, address: string) => `${address.replaceAll(':', '-')}${literal}:`,
  )
}

/** Connects as kafkajs does, and reads what {@link withoutColons} wrote. */
export const connectBroker: ISocketFactory = ({ host: given, port, ssl, onConnect }) => {
  const host = given.endsWith(literal) ? given.slice(0, -literal.length).replaceAll('-', ':') : given
  const place = { host, port }
  // Without TLS kafkajs passes `false`, which its type omits.
  const tls = ssl as typeof ssl | false | undefined
  const named = isIP(host) === 0 ? { servername: host } : {}
  const socket = tls ? connectTls({ ...place, ...named, ...tls }, onConnect) : connect(place, onConnect)
  socket.setKeepAlive(true, keepAliveDelayMs)
  return socket
}
