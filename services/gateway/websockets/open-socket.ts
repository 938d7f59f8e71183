import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { CallTooLong } from '../traffic/call-failures.ts'
import type { Caller } from '../traffic/authorize.ts'
import { closeCodes, closeFrame, type CloseCode } from './close-frames.ts'
import { deflationsOf } from './inflate-messages.ts'
import type { BrokenOff } from './open-response.ts'
import { relay } from './relay.ts'
import type { ForwardedSocket, SocketDependencies } from './forwarded-socket.ts'
import { createSocketRecorder, type SocketRecorder } from './socket-recorder.ts'

interface Ends {
  client: Duplex
  upstream: Socket
  /** `Sec-WebSocket-Extensions` of the provider's answer. */
  extensions: string | undefined
  /** Both are closed, and all is recorded. */
  onClosed: () => void
}

type Side = 'client' | 'upstream'

/** How often silence and the key are looked at. A key that is revoked closes its sockets within a minute. */
const lookEveryMs = 25_000
const endMs = 1_000

/** A WebSocket that both sides have accepted. */
export class OpenSocket {
  readonly #dependencies: SocketDependencies
  readonly #call: ForwardedSocket
  readonly #ends: Ends
  readonly #recorder: SocketRecorder
  #caller: Caller
  #activeMs = performance.now()
  #isDraining = false
  /** The side whose Close frame came first. */
  #closer: Side | undefined
  #broken: BrokenOff | undefined

  constructor(dependencies: SocketDependencies, call: ForwardedSocket, ends: Ends) {
    this.#dependencies = dependencies
    this.#call = call
    this.#ends = ends
    this.#caller = call.caller
    const { hostname, provider } = call.upstream
    this.#recorder = createSocketRecorder({
      ...dependencies,
      budget: dependencies.budget.of(call.caller.projectId),
      protocol: call.protocol,
      model: new URLSearchParams(call.path.split('?')[1] ?? '').get('model') ?? undefined,
      deflations: deflationsOf(ends.extensions),
      firstId: call.id,
      context: () => ({
        caller: this.#caller,
        path: call.path,
        upstream: { hostname, provider },
        labels: call.labels,
        trace: call.span?.context,
      }),
    })
  }

  run(): void {
    const { metrics, socketIdleMs, stallTimeoutMs } = this.#dependencies
    const { client, upstream } = this.#ends
    metrics.socketOpened(1)
    const everyMs = Math.min(lookEveryMs, Math.max(20, socketIdleMs / 4))
    const timer = setInterval(() => this.#look(), everyMs).unref()
    for (const socket of [client as Socket, upstream]) {
      socket.setTimeout(stallTimeoutMs)
      socket.on('timeout', () => this.#onStill(socket))
    }
    const read = (side: Side) => (bytes: Buffer) => this.#read(side, bytes)
    relay(
      { socket: client, read: read('client') },
      { socket: upstream, read: read('upstream') },
      {
        onBytes: () => {
          this.#activeMs = performance.now()
        },
        onEnd: (side, error) => {
          this.#broken ??= brokenBy(this.#closer ?? side, error)
        },
        onClose: () => {
          clearInterval(timer)
          metrics.socketOpened(-1)
          void this.#recorder.close(this.#broken ?? brokenBy('upstream', undefined)).then(this.#ends.onClosed)
        },
      },
    )
  }

  /** Closes between two responses. */
  drain(): void {
    this.#isDraining = true
    if (this.#recorder.isIdle()) this.breakOff(new CallTooLong('the gateway is stopping'))
  }

  breakOff(error: Error, code: CloseCode = closeCodes.goingAway): void {
    if (this.#broken !== undefined) return
    this.#broken = { by: 'upstream', error: error.message }
    const { client, upstream } = this.#ends
    const { client: fromClient, server: fromServer } = this.#recorder
    // Within a frame a Close frame would be part of it.
    if (fromServer.isBetweenFrames && client.writable) client.write(closeFrame(code, false))
    if (fromClient.isBetweenFrames && upstream.writable) upstream.write(closeFrame(code, true))
    client.end()
    upstream.end()
    setTimeout(() => {
      client.destroy()
      upstream.destroy()
    }, endMs).unref()
  }

  #read(side: Side, bytes: Buffer): void {
    const reader = side === 'client' ? this.#recorder.client : this.#recorder.server
    this.#dependencies.metrics.socketBytes(side, bytes.length)
    reader.push(bytes)
    if (reader.isClosing) this.#closer ??= side
    // After the bytes that ended the response have gone on.
    if (this.#isDraining && side === 'upstream') setImmediate(() => this.#recorder.isIdle() && this.drain())
  }

  /** A side has moved nothing for its time limit. */
  #onStill(socket: Socket): void {
    if (socket.writableLength === 0) return
    if (socket === this.#ends.client) this.#dependencies.metrics.stalled()
    socket.destroy()
  }

  #look(): void {
    const { socketIdleMs } = this.#dependencies
    if (performance.now() - this.#activeMs > socketIdleMs) {
      this.breakOff(new Error(`the WebSocket was silent for ${socketIdleMs} ms`))
      return
    }
    void Promise.resolve(this.#call.findCaller()).then((caller) => {
      if (caller === 'unknown') this.breakOff(new Error('the key is no longer valid'), closeCodes.policy)
      else if (caller !== 'unavailable') this.#caller = caller
    })
  }
}

function brokenBy(by: Side, error: Error | undefined): BrokenOff {
  const closed =
    by === 'client' ? 'the application closed its connection' : 'the server closed the connection'
  return { by, error: error?.message ?? closed }
}
