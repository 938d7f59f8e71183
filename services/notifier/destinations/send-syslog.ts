import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext, getCACertificates } from 'node:tls'
import type { Settings } from '#schemas/destinations.ts'
import { describeFailure } from '../sending/describe-failure.ts'

/** Null: the peer took all bytes and closed, or kept, the connection without an error. */
export type SendSyslog = (
  messages: readonly Buffer[],
  settings: Pick<Settings<'syslog'>, 'host' | 'port' | 'tls'>,
) => Promise<string | null>

/**
 * One connection for the messages, framed by octet counting (RFC 5425, 6587). Syslog has no receipt: a peer
 * that takes the bytes and answers our end of the connection with its own has read them.
 */
export function createSendSyslog(timeoutMs: number, ca: string | undefined): SendSyslog {
  const secureContext = createSecureContext(
    ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] },
  )
  return (messages, { host, port, tls }) =>
    new Promise((resolve) => {
      const frames = Buffer.concat(messages.flatMap((one) => [Buffer.from(`${one.length} `), one]))
      const socket: Socket = tls
        ? connectTls({ host, port, secureContext, servername: nameOf(host), timeout: timeoutMs }, write)
        : connectPlain({ host, port, timeout: timeoutMs }, write)
      const timer = setTimeout(() => end('no connection, or no end of it, in time'), timeoutMs)
      function write(): void {
        socket.end(frames)
      }
      function end(error: string | null): void {
        clearTimeout(timer)
        socket.destroy()
        resolve(error)
      }
      // Data of the peer is not expected; unread, it would keep the connection from ending.
      socket.resume()
      socket.once('error', (error) => end(describeFailure(error)))
      socket.once('close', () =>
        end(socket.bytesWritten >= frames.length ? null : 'the connection was closed'),
      )
    })
}

/** RFC 6066 has no addresses in a server's name. The certificate is checked for `host` in any case. */
function nameOf(host: string): string {
  return isIP(host) === 0 ? host : ''
}
