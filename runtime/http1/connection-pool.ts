import type { buildConnector } from 'undici'
import { HttpConnection, type Patience } from './http-connection.ts'
import { OutgoingCall, type AnswerHandler, type Exchange, type OutgoingRequest } from './outgoing-call.ts'

interface PoolOptions extends Patience {
  origin: URL
  /** As undici makes them: TCP, TLS and its sessions, the time limit. */
  connect: buildConnector.connector
  /** When there are as many, a call takes one that rests rather than a new one. How many calls are sent at a time is the sender's to bound. */
  maxConnections: number
  /** Told of every connection that is begun, and that it is no more. */
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
  /** The last to be free is the first to be taken: those that are not needed grow old. */
  #free: HttpConnection[] = []
  /** Free since this turn of the event loop. */
  #resting: HttpConnection[] = []
  /** They have a call to send at the end of this turn, or of the next. */
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

  /** Sends a call over a connection that is free, or a new one. */
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

  /** Closes all connections; calls that are under way fail. */
  close(): Promise<void> {
    clearInterval(this.#timer)
    for (const connection of this.#all) connection.close(new Error('the connections are closed'))
    return Promise.resolve()
  }

  /** Whether it has no connection, not even one that is being made. */
  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  /** Closes the connection that has been free the longest, if only since this turn; false when none is. */
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
    // An address of IPv6 stands in brackets.
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

  /** One that rests only where no more may be opened. Its call goes out a turn later: a server that closes behind each answer has been heard then. */
  #takeResting(): HttpConnection | undefined {
    return this.#all.size < this.#options.maxConnections ? undefined : this.#resting.shift()
  }

  /**
   * What came unasked over a connection, or that it was closed, is seen before another call uses it: it rests for a turn of the event
   * loop, and the call goes out behind whatever else the loop has read. One look a turn for all.
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
