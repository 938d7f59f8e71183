import type { buildConnector } from 'undici'
import { HttpConnection, type Patience } from './http-connection.ts'
import { OutgoingCall, type AnswerHandler, type Exchange, type OutgoingRequest } from './outgoing-call.ts'

interface PoolOptions extends Patience {
  origin: URL
  /** undici's connector: TCP, TLS and its sessions, the timeout. */
  connect: buildConnector.connector
  /**
   * At this number a call takes a resting connection instead of a new one. The sender bounds concurrent
   * calls.
   */
  maxConnections: number
  /** Called when a connection is begun, and when it is gone. */
  onOpen?: () => void
  onClose?: () => void
}

const shortestLookMs = 20
const longestLookMs = 1_000

/** Connections to one server that outlive a call. */
export class ConnectionPool {
  readonly #options: PoolOptions
  readonly #timer: NodeJS.Timeout
  readonly #all = new Set<HttpConnection>()
  /** Last in, first out: connections that are not needed grow old. */
  #free: HttpConnection[] = []
  /** Free since this turn of the event loop. */
  #resting: HttpConnection[] = []
  /** These have a call to send at the end of this turn, or of the next. */
  #leaving: HttpConnection[] = []
  #leavingNext: HttpConnection[] = []
  #isTurnDue = false
  readonly #events = {
    onFree: (connection: HttpConnection) => {
      this.#resting.push(connection)
      this.#atEndOfTurn()
    },
    onClose: (connection: HttpConnection) => {
      this.#all.delete(connection)
      this.#options.onClose?.()
      this.#free = this.#free.filter((other) => other !== connection)
      this.#resting = this.#resting.filter((other) => other !== connection)
    },
    onUnsent: (call: OutgoingCall) => this.#open(call),
  }

  constructor(options: PoolOptions) {
    this.#options = options
    const shortestMs = Math.min(options.answerMs, options.bodyMs, options.idleMs)
    const everyMs = Math.min(longestLookMs, Math.max(shortestLookMs, shortestMs / 4))
    this.#timer = setInterval(() => this.#look(), everyMs).unref()
  }

  /** Sends a call over a free connection, or a new one. */
  send(request: OutgoingRequest, handler: AnswerHandler): Exchange {
    const call = new OutgoingCall(request, handler)
    const free = this.#free.pop()
    const used = free ?? this.#takeResting()
    if (used === undefined) this.#open(call)
    else {
      used.take(call)
      ;(used === free ? this.#leaving : this.#leavingNext).push(used)
      this.#atEndOfTurn()
    }
    return call
  }

  /** Closes all connections; calls under way fail. */
  close(): Promise<void> {
    clearInterval(this.#timer)
    for (const connection of this.#all) connection.close(new Error('the connections are closed'))
    return Promise.resolve()
  }

  /** Whether it has no connection, not even one being opened. */
  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  /**
   * Closes the connection that has been free the longest, even if only since this turn; false: none is free.
   */
  closeOldest(): boolean {
    const oldest = this.#free[0] ?? this.#resting[0]
    oldest?.close(new Error('the connection is not needed'))
    return oldest !== undefined
  }

  #open(call: OutgoingCall): void {
    const connection = new HttpConnection(this.#options, this.#events)
    this.#all.add(connection)
    // A connector may refuse at once.
    connection.take(call)
    this.#options.onOpen?.()
    const { connect, origin } = this.#options
    const { host, protocol, port } = origin
    // An IPv6 host has brackets.
    const hostname = origin.hostname.replace(/^\[(.*)\]$/, '$1')
    try {
      connect({ hostname, host, protocol, port }, (error, socket) => {
        if (error === null) connection.connected(socket)
        else connection.close(error)
      })
    } catch (error) {
      connection.close(error as Error)
    }
  }

  /**
   * A resting connection, where no more may be opened. Its call goes out one turn later: by then a close by
   * the server is known.
   */
  #takeResting(): HttpConnection | undefined {
    return this.#all.size < this.#options.maxConnections ? undefined : this.#resting.shift()
  }

  /**
   * Frees connections one turn after their answer, so that unsolicited bytes or a close are seen before
   * another call uses them. One check per turn for all.
   */
  #atEndOfTurn(): void {
    if (!this.#isTurnDue) setImmediate(() => this.#endTurn())
    this.#isTurnDue = true
  }

  #endTurn(): void {
    this.#isTurnDue = false
    const leaving = this.#leaving
    this.#leaving = this.#leavingNext
    this.#leavingNext = []
    if (this.#leaving.length > 0) this.#atEndOfTurn()
    for (const connection of leaving) connection.write()
    const rested = this.#resting
    this.#resting = []
    for (const connection of rested) if (connection.closeUnlessSent()) this.#free.push(connection)
  }

  #look(): void {
    const nowMs = performance.now()
    for (const connection of this.#all) connection.look(nowMs)
  }
}
