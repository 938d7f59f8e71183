import { buildConnector } from 'undici'
import { UpstreamCall, type Exchange, type UpstreamHandler, type UpstreamRequest } from './upstream-call.ts'
import { UpstreamConnection, type Patience } from './upstream-connection.ts'

interface PoolOptions extends Patience {
  origin: URL
  connectTimeoutMs: number
  /** Whoever sends waits for its turn (call-queue.ts): no more calls than these are sent at a time. */
  maxConnections: number
}

const shortestLookMs = 20
const longestLookMs = 1_000

/** Connections to the provider that outlive a call. undici makes them: TCP, TLS and its sessions, the time limit. */
export class UpstreamPool {
  readonly #options: PoolOptions
  readonly #connect: ReturnType<typeof buildConnector>
  readonly #timer: NodeJS.Timeout
  readonly #all = new Set<UpstreamConnection>()
  /** The last to be free is the first to be taken: those that are not needed grow old. */
  #free: UpstreamConnection[] = []
  /** Free since this turn of the event loop. */
  #resting: UpstreamConnection[] = []
  /** They have a call to send. */
  #leaving: UpstreamConnection[] = []
  #isTurnDue = false
  readonly #events = {
    onFree: (connection: UpstreamConnection) => {
      this.#resting.push(connection)
      this.#atEndOfTurn()
    },
    onClose: (connection: UpstreamConnection) => {
      this.#all.delete(connection)
      this.#free = this.#free.filter((other) => other !== connection)
      this.#resting = this.#resting.filter((other) => other !== connection)
    },
    onUnsent: (call: UpstreamCall) => this.#open().take(call),
  }

  constructor(options: PoolOptions) {
    this.#options = options
    this.#connect = buildConnector({ timeout: options.connectTimeoutMs })
    const shortestMs = Math.min(options.answerMs, options.bodyMs, options.idleMs)
    const everyMs = Math.min(longestLookMs, Math.max(shortestLookMs, shortestMs / 4))
    this.#timer = setInterval(() => this.#look(), everyMs).unref()
  }

  /** Sends a call over a connection that is free, or a new one. */
  send(request: UpstreamRequest, handler: UpstreamHandler): Exchange {
    const call = new UpstreamCall(request, handler)
    const used = this.#free.pop() ?? this.#takeResting()
    if (used === undefined) this.#open().take(call)
    else {
      used.take(call)
      this.#leaving.push(used)
      this.#atEndOfTurn()
    }
    return call
  }

  /** Closes all connections; calls that are under way fail. */
  close(): Promise<void> {
    clearInterval(this.#timer)
    for (const connection of this.#all) connection.close(new Error('the gateway stops'))
    return Promise.resolve()
  }

  #open(): UpstreamConnection {
    const connection = new UpstreamConnection(this.#options, this.#events)
    this.#all.add(connection)
    const { host, protocol, port } = this.#options.origin
    // An address of IPv6 stands in brackets.
    const hostname = this.#options.origin.hostname.replace(/^\[(.*)\]$/, '$1')
    this.#connect({ hostname, host, protocol, port }, (error, socket) => {
      if (error === null) connection.connected(socket)
      else connection.close(error)
    })
    return connection
  }

  /** One that rests only where no more may be opened. */
  #takeResting(): UpstreamConnection | undefined {
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
    this.#leaving = []
    for (const connection of leaving) connection.write()
    this.#free.push(...this.#resting)
    this.#resting = []
  }

  #look(): void {
    const nowMs = performance.now()
    for (const connection of this.#all) connection.look(nowMs)
  }
}
