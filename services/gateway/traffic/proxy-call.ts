import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AnswerHead } from '#runtime/http1/answer-head.ts'
import type { AnswerHandler, Exchange } from '#runtime/http1/outgoing-call.ts'
import { CallRefused } from '../budgets/key-answers.ts'
import { CapturedCall } from '../recording/captured-call.ts'
import { answerForFailure } from './call-failures.ts'
import type { Permit } from './call-queue.ts'
import type { BegunAnswer } from './early-headers.ts'
import type { ForwardedCall, ProxyDependencies } from './forwarded-call.ts'
import { answerHeaders, pairsOf, type AnswerHeaders } from './forwarded-headers.ts'
import { reasonOf, sendAnswer, type GatewayAnswer } from './gateway-answer.ts'
import type { LiveCall } from './live-calls.ts'
import { measureCall } from './measure-call.ts'
import { PassingChunks } from './passing-chunks.ts'
import { closeOnceRead, RequestBody, type ForwardedBody } from './request-body.ts'

class ClientGone extends Error {}

/**
 * Forwards one call and streams its answer. Only the end of the answer waits, until the record is on disk: an
 * application that received a complete answer can be sure that it is recorded.
 */
export class ProxyCall implements AnswerHandler, LiveCall, BegunAnswer {
  readonly #dependencies: ProxyDependencies
  readonly #call: ForwardedCall
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly begunMs = performance.now()
  readonly #body: RequestBody
  readonly #captured: CapturedCall | null
  /** Set while the call is at the provider. */
  #exchange: Exchange | undefined
  #answer: AnswerHeaders | undefined
  #status: number | null = null
  #received = 0
  readonly #passing: PassingChunks
  /** The last bytes of an answer of known length. */
  #lastChunk: Buffer | undefined
  #sentMs = 0
  #firstByteMs: number | null = null
  /** The credential by which the provider was asked. */
  #presented: object | undefined
  #forwarded: ForwardedBody = null
  #permit: Permit | undefined
  /** Whether the current answer refuses credentials and will be retried. */
  #isDiscarding = false
  #isSecondTry = false
  #clientGone = false
  #isOver = false

  constructor(
    dependencies: ProxyDependencies,
    call: ForwardedCall,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    this.#dependencies = dependencies
    this.#call = call
    this.#request = request
    this.#response = response
    this.#passing = new PassingChunks(response)
    const { budget, bufferBudget, maxBodyBytes, maxRequestBytes } = dependencies
    const { projectId } = call.caller
    const { path, check } = call
    const asks = { path, headers: request.headers }
    this.#captured = call.isRecorded ? new CapturedCall(budget.of(projectId), maxBodyBytes, asks) : null
    const isWhole = call.upstream.credentials?.signsBody === true
    const limits = { maxBytes: maxRequestBytes, check, isWhole }
    this.#body = new RequestBody(request, this.#captured, bufferBudget.of(projectId), limits)
  }

  forward(): void {
    this.#dependencies.metrics.began()
    this.#dependencies.calls.add(this)
    this.#response.once('close', () => this.#onClose())
    this.#response.on('drain', () => this.#exchange?.resume())
    this.#response.on('timeout', () => this.#onTimeout())
    this.#body.forward({
      ready: (body) => {
        this.#forwarded = body
        this.#sentMs = performance.now()
        this.#acquirePermit()
      },
      // The application disconnected while sending.
      broken: (error) => this.#fail(error),
    })
  }

  /** Waits for a connection to the provider. */
  #acquirePermit(): void {
    if (this.#isOver) return
    const { upstream, caller } = this.#call
    const permit = upstream.enter(caller.projectId, (granted) => {
      this.#permit = granted
      void this.#dispatch().catch((error: unknown) => this.#fail(error))
    })
    if (permit instanceof Error) this.#fail(permit)
    else this.#permit = permit
  }

  async #dispatch(): Promise<void> {
    const { upstream, path, headers, check } = this.#call
    const method = this.#request.method ?? 'GET'
    const request = { method, path, headers, body: this.#forwarded }
    const given = upstream.present(request)
    const presented = given instanceof Promise ? await given : given
    if (this.#isOver) return
    check?.sent()
    this.#presented = presented?.credential
    const own = presented === undefined ? headers : [...headers, ...presented.headers]
    this.#exchange = upstream.send({ ...request, headers: own }, this)
  }

  /** Fails a call that was not sent. */
  #fail(error: unknown): void {
    this.onError(error instanceof Error ? error : new Error(String(error)))
  }

  /** Frees the connection to the provider for another call. */
  #release(): void {
    this.#exchange = undefined
    this.#permit?.release()
    this.#permit = undefined
  }

  /** Refused credentials may have expired: retry once with new ones, if the body is still in memory. */
  #isWorthAnotherTry(answer: AnswerHead): boolean {
    const { credentials } = this.#call.upstream
    if (answer.status < 400 || credentials === undefined || this.#presented === undefined) return false
    // Even if this call cannot be retried, the next one gets other credentials.
    const mayHaveAnother = credentials.refused(this.#presented, answer)
    const isAtHand = this.#forwarded === null || Buffer.isBuffer(this.#forwarded)
    return mayHaveAnother && isAtHand && !this.#isSecondTry && !this.#clientGone
  }

  onAnswer(answer: AnswerHead): void {
    this.#call.upstream.breaker.answered()
    this.#isDiscarding = this.#isWorthAnotherTry(answer)
    if (this.#isDiscarding) return
    const { status, reason, headers } = answer
    this.#status = status
    this.#answer = answerHeaders(headers, this.#call.id)
    this.#captured?.answers(this.#answer)
    if (this.#clientGone) return
    closeOnceRead(this.#request, this.#response)
    this.#response.writeHead(status, reason, this.#answer.raw)
    this.#passing.begin()
    this.#dependencies.earlyHeaders(this)
  }

  sendHeaders(): void {
    // Not `flushHeaders`, which changes the bytes of characters beyond ASCII.
    if (this.#received === 0 && !this.#isOver && !this.#clientGone) this.#response.write('', 'latin1')
  }

  onData(chunk: Buffer): void {
    if (this.#isDiscarding) return
    const atMs = performance.now() - this.begunMs
    this.#firstByteMs ??= atMs
    this.#received += chunk.length
    this.#captured?.answered(chunk, atMs)
    if (this.#clientGone) return
    if (this.#call.isRecorded && this.#received === this.#answer?.contentLength) this.#lastChunk = chunk
    else this.#passing.add(chunk, () => this.#exchange?.pause())
  }

  onEnd(trailers: string[]): void {
    this.#release()
    if (!this.#isDiscarding) {
      if (trailers.length > 0) this.#response.addTrailers(pairsOf(trailers))
      this.#finish(null, null)
      return
    }
    this.#isDiscarding = false
    this.#isSecondTry = true
    this.#acquirePermit()
  }

  onError(error: Error): void {
    const wasSent = this.#exchange !== undefined
    this.#release()
    const isClients = this.#clientGone || (this.#request.destroyed && !this.#request.complete)
    if (wasSent && !isClients && this.#answer === undefined) this.#call.upstream.breaker.failed()
    this.#finish(isClients ? 'client' : 'upstream', error)
  }

  /** The application disconnected, or received everything. */
  #onClose(): void {
    if (this.#isOver) return
    this.#clientGone = true
    this.#passing.drop()
    // An incomplete request has no answer to wait for.
    if (this.#dependencies.clientGone === 'drain' && this.#request.complete) {
      this.#exchange?.resume()
      return
    }
    const error = new ClientGone('the application closed its connection')
    if (this.#exchange === undefined) this.#finish('client', error)
    else this.#exchange.abort(error)
  }

  /** The application's connection was idle for its time limit. */
  #onTimeout(): void {
    // Nothing to write: the provider is slow, not the application.
    if ((this.#response.socket?.writableLength ?? 0) === 0) return
    this.#dependencies.metrics.stalled()
    this.#response.destroy()
  }

  breakOff(error: Error): void {
    if (this.#exchange === undefined) this.#finish('upstream', error)
    else this.#exchange.abort(error)
  }

  /** Records the call, then ends the answer: complete, aborted, or replaced by the gateway's own. */
  #finish(abortedBy: 'client' | 'upstream' | null, error: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#release()
    this.#body.leave()
    this.#passing.flush()
    const overMs = performance.now()
    const own =
      this.#answer === undefined && abortedBy === 'upstream' && error !== null
        ? answerForFailure(error)
        : null
    const status = this.#status ?? own?.status ?? null
    const { metrics, log } = this.#dependencies
    if (own?.refusal !== undefined) metrics.refused(own.refusal)
    else if (error !== null && abortedBy === 'upstream')
      log.warn({ request_id: this.#call.id, err: error }, 'the provider broke off or could not be reached')
    const end = () => {
      this.#end(own, error)
      this.#measure(error instanceof CallRefused ? null : abortedBy, status, overMs)
      this.#dependencies.calls.delete(this)
    }
    const recorded = this.#record(abortedBy, error === null ? null : reasonOf(error, own), status, overMs)
    // Without a promise where nothing is awaited.
    if (recorded === undefined) end()
    else void recorded.then(end)
  }

  #end(own: GatewayAnswer | null, error: Error | null): void {
    if (own !== null && !this.#response.headersSent) {
      closeOnceRead(this.#request, this.#response)
      sendAnswer(this.#response, own, this.#call.id)
    } else if (error === null) this.#passing.end(this.#lastChunk)
    else this.#response.destroy()
  }

  /** Undefined: the call is not recorded. */
  #record(
    abortedBy: 'client' | 'upstream' | null,
    error: string | null,
    status: number | null,
    overMs: number,
  ): Promise<void> | undefined {
    const { metrics, recorder, isMarkedAttack } = this.#dependencies
    const captured = this.#captured
    const { id, caller, path, labels, mark, span, upstream, check } = this.#call
    const request = captured?.requestBytes()
    // A call counts only once its request is complete.
    const isLeftOut = this.#sentMs === 0 || (mark && request && isMarkedAttack(mark, request))
    if (captured === null || request === undefined || isLeftOut === true) {
      captured?.release()
      check?.ended(this.#status)
      return undefined
    }
    for (const cut of captured.cuts()) metrics.cut(cut)
    const call = {
      ...{ id, caller, path, upstream, labels, check, request },
      headers: this.#request.headers,
      trace: span?.context,
      requestEncoding: this.#request.headers['content-encoding'] ?? '',
      answer: this.#answer === undefined ? null : { ...this.#answer, ...captured.answerBytes() },
      status,
      latencyMs: overMs - this.begunMs,
      arrivals: captured.arrivals,
      // Without an answer the provider failed; it aborted nothing.
      abortedBy: this.#answer === undefined && abortedBy === 'upstream' ? null : abortedBy,
      error,
    }
    return recorder(call, () => captured.release())
  }

  #measure(abortedBy: 'client' | 'upstream' | null, status: number | null, overMs: number): void {
    measureCall(this.#dependencies.metrics, this.#call.span, {
      ...{ abortedBy, status },
      addedMs: performance.now() - this.begunMs - (this.#sentMs === 0 ? 0 : overMs - this.#sentMs),
      ...{ requestBytes: this.#body.received, answerBytes: this.#received, firstByteMs: this.#firstByteMs },
    })
  }
}
