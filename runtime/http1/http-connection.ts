import type { Socket } from 'node:net'
import { MalformedAnswer, type AnswerHead } from './answer-head.ts'
import { AnswerParser, type AnswerSink } from './answer-parser.ts'
import type { OutgoingCall } from './outgoing-call.ts'

/** The server took too long. */
export class AnswerTimeout extends Error {}

/** The server closed the connection before it had answered whole. */
export class ConnectionClosed extends Error {
  constructor() {
    super('the server closed the connection')
  }
}

export interface Patience {
  /** For the first byte of an answer. */
  answerMs: number
  /** Between two bytes of it. */
  bodyMs: number
  /** For a connection that has no call. */
  idleMs: number
  /** The same where the server says that it keeps connections as long. */
  maxIdleMs: number
  /** Whether a connection that is still being made when its call is broken off serves the next one. */
  keepsUnfinished: boolean
}

interface ConnectionEvents {
  /** It may serve another call. */
  onFree(connection: HttpConnection): void
  onClose(connection: HttpConnection): void
  /** It closed before `call` was sent, or that was taken back. */
  onUnsent(call: OutgoingCall): void
}

/** A server closes at the moment it names; no call should be under way then. */
const beforeCloseMs = 2_000

/** A connection to the server: one call at a time, no pipelining. */
export class HttpConnection implements AnswerSink {
  readonly #patience: Patience
  readonly #events: ConnectionEvents
  readonly #parser = new AnswerParser(this)
  #socket: Socket | undefined
  #call: OutgoingCall | undefined
  /** Of the call: its answer has begun. */
  #hasBegun = false
  /** Of the call: something came back. */
  #hasHeard = false
  /** It has served a call before this one. */
  #isUsed = false
  #isPaused = false
  #idleMs: number
  /** When something moved last, on the clock of `performance.now()`. */
  #movedMs = performance.now()
  #isClosed = false

  constructor(patience: Patience, events: ConnectionEvents) {
    this.#patience = patience
    this.#events = events
    this.#idleMs = patience.idleMs
  }

  /** The call goes out with `write`, or as soon as there is a socket. */
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
   * Closes where not all of the last request has gone: what is still to come of it would be taken for the next one. Over TLS a socket says so
   * a turn late, often after the answer has been read. Returns whether it has gone.
   */
  closeUnlessSent(): boolean {
    const hasSentAll = (this.#socket?.writableLength ?? 0) === 0
    if (!hasSentAll) this.close(new Error('the answer came before its request had gone'))
    return hasSentAll
  }

  /** Sends the call that it has, unless that has gone out when the socket came. */
  write(): void {
    const socket = this.#socket
    const call = this.#call
    if (socket === undefined || call === undefined || call.isBegun || !this.closeUnlessSent()) return
    this.#movedMs = performance.now()
    this.#parser.expect(call.request.method)
    call.send(socket)
  }

  /** Something of a request has gone out. */
  moved(): void {
    this.#movedMs = performance.now()
  }

  /** Breaks off what takes longer than it may. */
  look(nowMs: number): void {
    const stillMs = nowMs - this.#movedMs
    if (this.#call === undefined) {
      if (stillMs > this.#idleMs) this.close(new Error('the connection was idle'))
    } else if (this.#socket === undefined || this.#isPaused) return
    else if (this.#hasBegun) {
      if (stillMs > this.#patience.bodyMs) this.close(new AnswerTimeout('the answer stood still'))
    } else if (stillMs > this.#patience.answerMs) {
      // While the sender still sends, the server has nothing to answer yet.
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

  /** A server closes a connection for its age as well while a call is on its way to it: nothing comes back then. A new one it closes for the call. */
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
    // What comes before a call has gone out is no answer to it: the parser refuses it, and the call goes over another connection.
    if (this.#call?.isBegun === true) {
      this.#hasHeard = true
      this.#call.handler.onBytes?.(bytes)
    }
    try {
      this.#parser.push(bytes)
    } catch (error) {
      // A defect of this side that no call can be told of is nobody's to swallow.
      const isUntold = this.#call === undefined && !(error instanceof MalformedAnswer)
      this.close(error as Error)
      if (isUntold) throw error
    }
  }

  #onEnd(): void {
    if (!this.#isClosed && !this.#parser.end()) this.#lose(new ConnectionClosed())
  }
}
