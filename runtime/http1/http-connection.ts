import type { Socket } from 'node:net'
import { MalformedAnswer, type AnswerHead } from './answer-head.ts'
import { AnswerParser, type AnswerSink } from './answer-parser.ts'
import type { OutgoingCall } from './outgoing-call.ts'

/** The server took too long. */
export class AnswerTimeout extends Error {}

/** The server closed the connection before the end of its answer. */
export class ConnectionClosed extends Error {
  constructor() {
    super('the server closed the connection')
  }
}

export interface Patience {
  /** Until the first byte of an answer. */
  answerMs: number
  /** Between two bytes of an answer. */
  bodyMs: number
  /** For a connection without a call. */
  idleMs: number
  /** The maximum where the server announces how long it keeps connections. */
  maxIdleMs: number
  /** Whether a connection still being opened serves the next call when its own is aborted. */
  keepsUnfinished: boolean
}

interface ConnectionEvents {
  /** The connection may serve another call. */
  onFree(connection: HttpConnection): void
  onClose(connection: HttpConnection): void
  /** The connection closed before `call` was sent, or after it was taken back. */
  onUnsent(call: OutgoingCall): void
}

/** A server closes at the time it announces; no call should be under way then. */
const beforeCloseMs = 2_000

/** A connection to the server: one call at a time, no pipelining. */
export class HttpConnection implements AnswerSink {
  readonly #patience: Patience
  readonly #events: ConnectionEvents
  readonly #parser = new AnswerParser(this)
  #socket: Socket | undefined
  #call: OutgoingCall | undefined
  /** The call's answer has begun. */
  #hasBegun = false
  /** Bytes have come back for the call. */
  #hasHeard = false
  /** It has served a call before this one. */
  #isUsed = false
  #isPaused = false
  #idleMs: number
  /** The last progress, on the clock of `performance.now()`. */
  #movedMs = performance.now()
  #isClosed = false

  constructor(patience: Patience, events: ConnectionEvents) {
    this.#patience = patience
    this.#events = events
    this.#idleMs = patience.idleMs
  }

  /** The call goes out with `write`, or as soon as the socket is open. */
  take(call: OutgoingCall): void {
    this.#hasBegun = this.#hasHeard = false
    this.#call = call
    call.connection = this
  }

  connected(socket: Socket): void {
    if (this.#isClosed) {
      socket.destroy()
      return
    }
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => this.#onData(bytes))
    socket.on('drain', () => this.#call?.drained())
    socket.on('end', () => this.#onEnd())
    socket.on('error', (error) => this.#lose(error))
    socket.on('close', () => this.#lose(new ConnectionClosed()))
    this.write()
  }

  /**
   * Closes if the last request was not sent completely: the rest would be taken for the next request. Over
   * TLS a socket reports this one turn late, often after the answer. Returns whether it was sent.
   */
  closeUnlessSent(): boolean {
    const hasSentAll = (this.#socket?.writableLength ?? 0) === 0
    if (!hasSentAll) this.close(new Error('the answer came before its request had gone'))
    return hasSentAll
  }

  /** Sends the call, unless it went out when the socket opened. */
  write(): void {
    const socket = this.#socket
    const call = this.#call
    if (socket === undefined || call === undefined || call.isBegun || !this.closeUnlessSent()) return
    this.#movedMs = performance.now()
    this.#parser.expect(call.request.method)
    call.send(socket)
  }

  /** Part of a request has gone out. */
  moved(): void {
    this.#movedMs = performance.now()
  }

  /** Ends what exceeds its timeout. */
  look(nowMs: number): void {
    const stillMs = nowMs - this.#movedMs
    if (this.#call === undefined) {
      if (stillMs > this.#idleMs) this.close(new Error('the connection was idle'))
    } else if (this.#socket === undefined || this.#isPaused) return
    else if (this.#hasBegun) {
      if (stillMs > this.#patience.bodyMs) this.close(new AnswerTimeout('the answer stood still'))
    } else if (stillMs > this.#patience.answerMs) {
      // While the sender still sends, the server has nothing to answer.
      const isServers = this.#call.isSent || this.#socket.writableNeedDrain
      if (isServers) this.close(new AnswerTimeout('the server did not answer in time'))
    }
  }

  close(error: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket?.destroy()
    this.#events.onClose(this)
    const call = this.#leave()
    if (call === undefined) return
    if (this.#socket !== undefined && !call.isBegun) this.#events.onUnsent(call)
    else call.handler.onError(error)
  }

  /**
   * A server may close an old connection while a call is on its way; nothing comes back then. A new one it
   * closes because of the call.
   */
  #lose(error: Error): void {
    if (this.#isUsed && !this.#hasHeard) this.#call?.takeBack()
    this.close(error)
  }

  abort(call: OutgoingCall, error: Error): void {
    if (this.#call !== call) return
    this.#leave()
    if (this.#socket === undefined && this.#patience.keepsUnfinished) this.#events.onFree(this)
    else this.close(error)
    call.handler.onError(error)
  }

  pause(call: OutgoingCall): void {
    if (this.#call !== call) return
    this.#isPaused = true
    this.#socket?.pause()
  }

  resume(call: OutgoingCall): void {
    if (this.#call === call) this.#flow()
  }

  #flow(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#movedMs = performance.now()
    this.#socket?.resume()
  }

  onHead(head: AnswerHead): void {
    this.#hasBegun = true
    const { keepAliveMs } = head
    const { idleMs, maxIdleMs } = this.#patience
    this.#idleMs = keepAliveMs === undefined ? idleMs : Math.min(maxIdleMs, keepAliveMs - beforeCloseMs)
    this.#call?.handler.onAnswer(head)
  }

  onBody(bytes: Buffer): void {
    this.#call?.handler.onData(bytes)
  }

  onWhole(trailers: string[], isReusable: boolean): void {
    const call = this.#leave()
    if (call === undefined) return
    const isFree = isReusable && this.#idleMs > 0 && call.isSent
    if (isFree) {
      this.#isUsed = true
      this.#flow()
      this.#events.onFree(this)
    } else this.close(new Error('the connection serves no more calls'))
    call.handler.onEnd(trailers)
  }

  #leave(): OutgoingCall | undefined {
    const call = this.#call
    this.#call = undefined
    return call
  }

  #onData(bytes: Buffer): void {
    this.#movedMs = performance.now()
    // Bytes before the call was sent are not its answer: the parser refuses them, and the call takes another
    // connection.
    if (this.#call?.isBegun === true) {
      this.#hasHeard = true
      this.#call.handler.onBytes?.(bytes)
    }
    try {
      this.#parser.push(bytes)
    } catch (error) {
      // A bug of ours that no call can report must not be swallowed.
      const isUntold = this.#call === undefined && !(error instanceof MalformedAnswer)
      this.close(error as Error)
      if (isUntold) throw error
    }
  }

  #onEnd(): void {
    if (!this.#isClosed && !this.#parser.end()) this.#lose(new ConnectionClosed())
  }
}
