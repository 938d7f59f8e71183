import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { makeCertificate } from './make-certificate.ts'

export interface PostgresBehindTls {
  url: string
  /** The certificate authority, as PEM. */
  authority: string
  stop(): Promise<void>
}

/** A proxy to the database that requires TLS, like `hostssl` in pg_hba.conf. */
export async function postgresBehindTls(address: string): Promise<PostgresBehindTls> {
  const tls = makeCertificate()
  const url = new URL(address)
  const real = { host: url.hostname, port: Number(url.port) }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.once('error', () => socket.destroy())
    socket.once('data', (first) => {
      if (!isSslRequest(first)) {
        socket.destroy()
        return
      }
      socket.write('S')
      const plain = new TLSSocket(socket, { isServer: true, ...tls })
      const database = connect(real)
      // A client that does not trust the certificate disconnects halfway: end both sides.
      const end = () => {
        plain.destroy()
        database.destroy()
      }
      pipeline(plain, database, end)
      pipeline(database, plain, end)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    authority: tls.cert,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const sslRequestCode = 80_877_103

function isSslRequest(message: Buffer): boolean {
  return message.length === 8 && message.readUInt32BE(4) === sslRequestCode
}
