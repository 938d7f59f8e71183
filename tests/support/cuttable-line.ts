import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/** A TCP proxy that can be cut or degraded, for tests of outages. */
export interface CuttableLine {
  /** The server's URL through this proxy. */
  url: string
  /** Breaks every connection and refuses new ones until mended. */
  cut(): void
  /** Accepts connections and forwards nothing in either direction until mended. */
  stall(): void
  /** Delays each chunk, and those behind it, until mended. */
  slow(delayMs: number): void
  /** Breaks every connection, as a router that has lost its state does. New ones pass. */
  reset(): void
  /** Routes new connections to another server. */
  pointAt(targetUrl: string): void
  mend(): void
  close(): Promise<void>
}

export async function openLine(targetUrl: string): Promise<CuttableLine> {
  let target = new URL(targetUrl)
  const sockets = new Set<Socket>()
  const state = { isCut: false, delayMs: 0, stalled: [] as (() => void)[], isStalled: false }
  /** Resolves when data may pass. */
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
      // After an error comes `close`, which ends both sides.
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
