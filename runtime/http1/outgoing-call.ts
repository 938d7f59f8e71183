import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { AnswerHead } from './answer-head.ts'

/** A request as it goes to the server. */
export interface OutgoingRequest {
  method: string
  /** Request line, headers and the empty line, in Latin-1. */
  head: string
  /** Nothing, all of it, or as it comes. */
  body: null | Buffer | Readable
  /** Whether a body that passes as it comes goes in chunks: its length is not known. */
  isChunked: boolean
}

/** Told what becomes of a call. After `onEnd` or `onError`, nothing more. */
export interface AnswerHandler {
  /** All bytes as they come, before they are read as an answer. */
  onBytes?(bytes: Buffer): void
  onAnswer(head: AnswerHead): void
  onData(bytes: Buffer): void
  onEnd(trailers: string[]): void
  onError(error: Error): void
}

const repeatable = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** One call on its way to the server and back. */
export interface Exchange {
  /** No more of the answer for now, but for what has been read already. */
  pause(): void
  resume(): void
  /** Ends it, and its connection, with `onError`; nothing when it is over. */
  abort(error: Error): void
}

/** The connection that a call is on. */
interface Carrier {
  pause(call: OutgoingCall): void
  resume(call: OutgoingCall): void
  abort(call: OutgoingCall, error: Error): void
  /** Something of the request has gone out. */
  moved(): void
}

/** Shorter bodies are copied to go out with their head in one piece: cheaper than two pieces in one `writev`. */
const joinedBytes = 16 * 1024
/** A call that goes to the server and comes back over one connection. */
export class OutgoingCall implements Exchange {
  readonly request: OutgoingRequest
  readonly handler: AnswerHandler
  connection: Carrier | undefined
  /** Whether something of the request has been sent, over whichever connection (then it is sent over no other, unless it is taken back), and all of it. */
  isBegun = false
  isSent = false

  constructor(request: OutgoingRequest, handler: AnswerHandler) {
    this.request = request
    this.handler = handler
  }

  /**
   * What the server may have had of it counts as unsent: it goes over another connection. Only what asks for nothing to be done may go twice
   * (RFC 9110, 9.2.2), and with a body it would have to be kept.
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

  /** The socket takes more of a body that passes. Of a call that has not begun it is the one before that has drained: nobody reads its body yet. */
  drained(): void {
    if (!this.isBegun) return
    this.connection?.moved()
    const { body } = this.request
    if (body !== null && !Buffer.isBuffer(body)) body.resume()
  }

  #pass(body: Readable, socket: Socket): void {
    const { isChunked } = this.request
    // While the call waited for its connection, before anybody listened.
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
