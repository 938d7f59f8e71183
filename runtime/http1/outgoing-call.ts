import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { AnswerHead } from './answer-head.ts'

/** A request as it goes to the server. */
export interface OutgoingRequest {
  method: string
  /** Request line, headers and the empty line, in Latin-1. */
  head: string
  /** None, whole, or streamed. */
  body: null | Buffer | Readable
  /** Whether a streamed body goes in chunks, because its length is unknown. */
  isChunked: boolean
}

/** Receives the events of a call. After `onEnd` or `onError`, no more. */
export interface AnswerHandler {
  /** All bytes as they arrive, before they are parsed. */
  onBytes?(bytes: Buffer): void
  onAnswer(head: AnswerHead): void
  onData(bytes: Buffer): void
  onEnd(trailers: string[]): void
  onError(error: Error): void
}

const repeatable = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** One call on its way to the server and back. */
export interface Exchange {
  /** Pauses the answer, except for what has already been read. */
  pause(): void
  resume(): void
  /** Ends the call and its connection with `onError`; no effect once it is over. */
  abort(error: Error): void
}

/** The connection that carries a call. */
interface Carrier {
  pause(call: OutgoingCall): void
  resume(call: OutgoingCall): void
  abort(call: OutgoingCall, error: Error): void
  /** Part of the request has gone out. */
  moved(): void
}

/** Shorter bodies are copied behind their head: one write is cheaper than a `writev` of two. */
const joinedBytes = 16 * 1024
/** A call that goes to the server and comes back over one connection. */
export class OutgoingCall implements Exchange {
  readonly request: OutgoingRequest
  readonly handler: AnswerHandler
  connection: Carrier | undefined
  /**
   * Whether part of the request was sent on any connection, and whether all of it was. Once begun it moves to
   * no other, unless taken back.
   */
  isBegun = false
  isSent = false

  constructor(request: OutgoingRequest, handler: AnswerHandler) {
    this.request = request
    this.handler = handler
  }

  /**
   * Treats what was sent as unsent, so that the call takes another connection. Only safe methods may be sent
   * twice (RFC 9110, 9.2.2), and a body would have to be kept.
   */
  takeBack(): void {
    const { method, body } = this.request
    if (body === null && repeatable.has(method)) this.isBegun = this.isSent = false
  }

  pause(): void {
    this.connection?.pause(this)
  }

  resume(): void {
    this.connection?.resume(this)
  }

  abort(error: Error): void {
    this.connection?.abort(this, error)
  }

  send(socket: Socket): void {
    const { head, body } = this.request
    this.isBegun = true
    if (body === null) socket.write(head, 'latin1')
    else if (!Buffer.isBuffer(body)) {
      socket.write(head, 'latin1')
      this.#pass(body, socket)
      return
    } else if (body.length <= joinedBytes) {
      const bytes = Buffer.allocUnsafe(head.length + body.length)
      bytes.write(head, 'latin1')
      body.copy(bytes, head.length)
      socket.write(bytes)
    } else {
      socket.cork()
      socket.write(head, 'latin1')
      socket.write(body)
      socket.uncork()
    }
    this.isSent = true
  }

  /**
   * The socket takes more of a streamed body. A call that has not begun ignores it: the previous call
   * drained.
   */
  drained(): void {
    if (!this.isBegun) return
    this.connection?.moved()
    const { body } = this.request
    if (body !== null && !Buffer.isBuffer(body)) body.resume()
  }

  #pass(body: Readable, socket: Socket): void {
    const { isChunked } = this.request
    // It ended while the call waited for its connection, before the listener existed.
    if (body.destroyed) {
      this.abort(body.errored ?? new Error('the request was not sent whole'))
      return
    }
    body.on('data', (bytes: Buffer) => {
      this.connection?.moved()
      if (isChunked) {
        socket.cork()
        socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1')
        socket.write(bytes)
      }
      const hasBudget = isChunked ? socket.write('\r\n', 'latin1') : socket.write(bytes)
      if (isChunked) socket.uncork()
      if (!hasBudget) body.pause()
    })
    body.on('end', () => {
      if (isChunked) socket.write('0\r\n\r\n', 'latin1')
      this.isSent = true
    })
    body.on('error', (error) => this.abort(error))
    body.on('close', () => {
      if (!this.isSent) this.abort(new Error('the request was not sent whole'))
    })
  }
}
