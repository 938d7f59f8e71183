import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/** A way to a server that can be cut and made worse, for tests of outages. */
export interface CuttableLine {
  /** The server's address by way of this line. */
  url: string
  /** Breaks every connection and refuses new ones, until it is mended. */
  cut(): void
  /** Takes connections and passes nothing on in either direction, until it is mended: who is there says nothing. */
  stall(): void
  /** Each piece of what passes waits so long, and those behind it, until it is mended. */
  slow(delayMs: number): void
  /** Breaks every connection, as a router that has forgotten them does. New ones pass. */
  reset(): void
  /** New connections lead to another server from now on. */
  pointAt(targetUrl: string): void
  mend(): void
  close(): Promise<void>
}

export async function openLine(targetUrl: string): Promise<CuttableLine> {
  let target = new URL(targetUrl)
  const sockets = new Set<Socket>()
  const state = { isCut: false, delayMs: 0, stalled: [] as (() => void)[], isStalled: false }
  /** Resolves once it may pass. */
  const passable = () =>
    state.isStalled ? new Promise<void>((resolve) => state.stalled.push(resolve)) : Promise.resolve()
  const letGo = () => {
    state.isStalled = false
    for (const pass of state.stalled.splice(0)) pass()
  }
  const gate = () =>
    new Transform({
      transform(chunk: Buffer, _encoding, pass) {
        const waited = state.delayMs > 0 ? sleep(state.delayMs) : Promise.resolve()
        void waited.then(passable).then(() => pass(null, chunk))
      },
    })
  const server = createServer((near) => {
    if (state.isCut) {
      near.destroy()
      return
    }
    const far = connect(Number(target.port), target.hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      // Errors end in `close`, which ends both sides.
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        near.destroy()
        far.destroy()
        sockets.delete(socket)
      })
    }
    near.pipe(gate()).pipe(far)
    far.pipe(gate()).pipe(near)
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
      state.isCut = true
      breakAll()
    },
    stall() {
      state.isStalled = true
    },
    slow(delayMs) {
      state.delayMs = delayMs
    },
    reset() {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    pointAt(other) {
      target = new URL(other)
    },
    mend() {
      state.isCut = false
      state.delayMs = 0
      letGo()
    },
    close: () =>
      new Promise((resolve) => {
        letGo()
        server.close(() => resolve())
        breakAll()
      }),
  }
}
