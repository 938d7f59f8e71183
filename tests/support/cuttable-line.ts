import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A way to a server that can be cut, for tests of outages. */
export interface CuttableLine {
  /** The server's address by way of this line. */
  url: string
  /** Breaks every connection and refuses new ones, until it is mended. */
  cut(): void
  mend(): void
  close(): Promise<void>
}

export async function openLine(targetUrl: string): Promise<CuttableLine> {
  const target = new URL(targetUrl)
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) {
      near.destroy()
      return
    }
    const far = connect(Number(target.port), target.hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      // Errors end in `close`, which ends both sides.
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        near.destroy()
        far.destroy()
        sockets.delete(socket)
      })
    }
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(targetUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    cut() {
      isCut = true
      breakAll()
    },
    mend() {
      isCut = false
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        breakAll()
      }),
  }
}
