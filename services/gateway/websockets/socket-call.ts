import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import type { AnswerHead } from '#runtime/http1/answer-head.ts'
import { answerForFailure } from '../traffic/call-failures.ts'
import type { Permit } from '../traffic/call-queue.ts'
import { answerHeaders } from '../traffic/forwarded-headers.ts'
import { rawText } from '../traffic/gateway-answer.ts'
import type { LiveCall } from '../traffic/live-calls.ts'
import { measureCall } from '../traffic/measure-call.ts'
import type { ForwardedSocket, SocketDependencies } from './forwarded-socket.ts'
import type { Handshake, HandshakeHandler } from './handshake.ts'
import { OpenSocket } from './open-socket.ts'

/** Forwards the handshake of a WebSocket; an {@link OpenSocket} takes over where the provider accepts. */
export class SocketCall implements LiveCall, HandshakeHandler {
  readonly #dependencies: SocketDependencies
  readonly #call: ForwardedSocket
  readonly #socket: Duplex
  /** What the application sent behind its handshake. */
  readonly #first: Buffer
  readonly begunMs = performance.now()
  #permit: Permit | undefined
  #handshake: Handshake | undefined
  #open: OpenSocket | undefined
  /** What the credentials that were sent were made from. */
  #presented: object | undefined
  #sentMs = 0
  #status: number | null = null
  #answerBytes = 0
  #isDiscarding = false
  #isSecondTry = false
  #isDraining = false
  #isOver = false
  readonly #onGone = () => this.#end(null, 'client')

  constructor(dependencies: SocketDependencies, call: ForwardedSocket, socket: Duplex, first: Buffer) {
    this.#dependencies = dependencies
    this.#call = call
    this.#socket = socket
    this.#first = first
  }

  forward(): void {
    const { upstream, caller } = this.#call
    this.#dependencies.metrics.began()
    this.#dependencies.calls.add(this)
    this.#socket.on('close', this.#onGone)
    const permit = upstream.enter(caller.projectId, (granted) => {
      this.#permit = granted
      void this.#dispatch().catch((error: unknown) => this.onError(error as Error))
    })
    if (permit instanceof Error) this.onError(permit)
    else this.#permit = permit
  }

  async #dispatch(): Promise<void> {
    const { upstream, path, headers } = this.#call
    const given = upstream.present({ method: 'GET', path, headers, body: null })
    const presented = given instanceof Promise ? await given : given
    if (this.#isOver) return
    this.#presented = presented?.credential
    this.#sentMs = performance.now()
    this.#handshake = upstream.sockets.open(path, [...headers, ...(presented?.headers ?? [])], this)
  }

  onOpen(head: AnswerHead, upstreamSocket: Socket, first: Buffer): void {
    const { upstream, id } = this.#call
    upstream.breaker.answered()
    this.#socket.removeListener('close', this.#onGone)
    this.#write(head, ['Connection', 'Upgrade', 'Upgrade', 'websocket'])
    this.#measure(null)
    const extensions = headerOf(head, 'sec-websocket-extensions')
    this.#open = new OpenSocket(this.#dependencies, this.#call, {
      client: this.#socket,
      upstream: upstreamSocket,
      extensions,
      onClosed: () => this.#leave(),
    })
    if (this.#first.length > 0) this.#socket.unshift(this.#first)
    if (first.length > 0) upstreamSocket.unshift(first)
    this.#open.run()
    if (this.#isDraining) this.#open.drain()
    this.#dependencies.log.debug({ request_id: id, protocol: this.#call.protocol }, 'a WebSocket is open')
  }

  onRefusal(head: AnswerHead): void {
    const { breaker, credentials } = this.#call.upstream
    breaker.answered()
    // Refused credentials may have expired: one retry with new ones.
    const mayHaveAnother =
      this.#presented !== undefined && credentials?.refused(this.#presented, head) === true
    this.#isDiscarding = mayHaveAnother && !this.#isSecondTry
    if (!this.#isDiscarding) this.#write(head, ['Connection', 'close'])
  }

  onRefusalData(bytes: Buffer): void {
    if (this.#isDiscarding) return
    this.#answerBytes += bytes.length
    this.#socket.write(bytes)
  }

  onRefusalEnd(): void {
    if (!this.#isDiscarding) {
      this.#end(null, null)
      return
    }
    this.#isDiscarding = false
    this.#isSecondTry = true
    void this.#dispatch().catch((error: unknown) => this.onError(error as Error))
  }

  onError(error: Error): void {
    if (this.#handshake !== undefined && this.#status === null) this.#call.upstream.breaker.failed()
    this.#end(error, 'upstream')
  }

  breakOff(error: Error): void {
    if (this.#open === undefined) this.#end(error, 'upstream')
    else this.#open.breakOff(error)
  }

  drain(): void {
    this.#isDraining = true
    this.#open?.drain()
  }

  #write(head: AnswerHead, connection: string[]): void {
    this.#status = head.status
    const fields = [...connection, ...answerHeaders(head.headers, this.#call.id).raw]
    let text = `HTTP/1.1 ${head.status} ${head.reason}\r\n`
    for (let at = 0; at < fields.length; at += 2) text += `${fields[at] ?? ''}: ${fields[at + 1] ?? ''}\r\n`
    this.#socket.write(`${text}\r\n`, 'latin1')
  }

  /** The handshake failed, or has its answer. */
  #end(error: Error | null, abortedBy: 'client' | 'upstream' | null): void {
    if (this.#isOver) return
    const { metrics, log } = this.#dependencies
    this.#handshake?.abort()
    if (error !== null && this.#status === null) {
      const own = answerForFailure(error)
      this.#status = own.status
      this.#socket.write(rawText(own, this.#call.id))
      if (own.refusal === undefined)
        log.warn({ request_id: this.#call.id, err: error }, 'the provider could not be reached')
      else metrics.refused(own.refusal)
    }
    // An answer that broke off must not look whole.
    if (error !== null && abortedBy === 'upstream' && this.#answerBytes > 0) this.#socket.destroy()
    else this.#socket.end(() => this.#socket.destroy())
    this.#measure(abortedBy)
    this.#leave()
  }

  #measure(abortedBy: 'client' | 'upstream' | null): void {
    const nowMs = performance.now()
    measureCall(this.#dependencies.metrics, this.#call.span, {
      ...{ abortedBy, status: this.#status, requestBytes: 0, answerBytes: this.#answerBytes },
      addedMs: (this.#sentMs === 0 ? nowMs : this.#sentMs) - this.begunMs,
      firstByteMs: this.#status === null ? null : nowMs - this.begunMs,
    })
  }

  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#permit?.release()
    this.#dependencies.calls.delete(this)
  }
}

function headerOf({ headers }: AnswerHead, wanted: string): string | undefined {
  const values = headers.filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === wanted)
  return values.length === 0 ? undefined : values.join(', ')
}
