import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Log } from '#runtime/log.ts'
import type { GatewayMetrics } from '../metrics.ts'
import { CapturedBody, type CaptureBudget } from '../recording/captured-body.ts'
import type { Recorder } from '../recording/recorder.ts'
import type { Caller } from './authorize.ts'
import { answerHeaders, pairsOf, rawHeadersOf, type AnswerHeaders } from './forwarded-headers.ts'
import { reasonOf, sendAnswer } from './gateway-answer.ts'
import { forwardedBody, type ForwardedBody } from './request-body.ts'
import type { LiveCall, LiveCalls } from './live-calls.ts'
import type { CallLabels } from './service-headers.ts'
import type { UpstreamCredentials } from './upstream-credentials.ts'
import { answerForFailure, CallTooLong, type Upstream } from './upstream.ts'

export interface ProxyDependencies {
  /** Those that are not over. */
  calls: LiveCalls
  upstream: Upstream
  /** Undefined: the application's own go to the provider. */
  credentials: UpstreamCredentials | undefined
  recorder: Recorder
  budget: CaptureBudget
  maxBodyBytes: number
  clientGone: 'abort' | 'drain'
  /** For a call in all. */
  callTimeoutMs: number
  metrics: GatewayMetrics
  log: Log
}

/** One request, as it is to be forwarded. */
export interface ForwardedCall {
  id: string
  caller: Caller
  path: string
  headers: string[]
  labels: CallLabels
  isRecorded: boolean
}

class ClientGone extends Error {}

/**
 * Forwards one call and passes its answer on as it comes. Only the end of the answer waits: until the record of the call is on
 * disk. So whoever has received an answer completely can be sure that it is recorded.
 */
export class ProxyCall implements Dispatcher.DispatchHandler, LiveCall {
  readonly #dependencies: ProxyDependencies
  readonly #call: ForwardedCall
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #begunMs = performance.now()
  readonly #requestBody: CapturedBody | null
  readonly #answerBody: CapturedBody | null
  #controller: Dispatcher.DispatchController | undefined
  #answer: AnswerHeaders | undefined
  #status: number | null = null
  #received = 0
  #passing: Buffer[] = []
  /** The last bytes of an answer of known length. */
  #held: Buffer | undefined
  #sentMs = 0
  #firstByteMs: number | null = null
  /** The credential that the provider was called with. */
  #presented: string | undefined
  #body: ForwardedBody = null
  /** Whether the answer at hand is a 401 after which the call is made once more. */
  #discarding = false
  #isSecondTry = false
  #deadline: NodeJS.Timeout | undefined
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
    const { budget, maxBodyBytes } = dependencies
    this.#requestBody = call.isRecorded ? new CapturedBody(budget, maxBodyBytes) : null
    this.#answerBody = call.isRecorded ? new CapturedBody(budget, maxBodyBytes) : null
  }

  async forward(): Promise<void> {
    this.#dependencies.metrics.began()
    this.#dependencies.calls.add(this)
    const { callTimeoutMs } = this.#dependencies
    const tooLong = () => this.breakOff(new CallTooLong(`the call took longer than ${callTimeoutMs} ms`))
    this.#deadline = setTimeout(tooLong, callTimeoutMs).unref()
    this.#response.once('close', () => this.#onClose())
    this.#response.on('drain', () => this.#controller?.resume())
    this.#response.on('timeout', () => this.#onStill())
    try {
      // Only what has to be waited for: a turn of the event loop for each would add up.
      const body = forwardedBody(this.#request, this.#requestBody)
      this.#body = body instanceof Promise ? await body : body
      this.#sentMs = performance.now()
      await this.#dispatch()
    } catch (error) {
      // The application went while it was sending, or what it sent cannot be forwarded.
      this.onResponseError(undefined, error instanceof Error ? error : new Error(String(error)))
    }
  }

  async #dispatch(): Promise<void> {
    const { upstream, credentials } = this.#dependencies
    const { path } = this.#call
    let { headers } = this.#call
    if (credentials !== undefined) {
      const given = credentials.header()
      const { name, value } = given instanceof Promise ? await given : given
      this.#presented = value
      headers = [...headers, name, value]
    }
    if (this.#isOver) return
    const method = this.#request.method ?? 'GET'
    upstream.pool.dispatch({ path: upstream.basePath + path, method, headers, body: this.#body }, this)
  }

  /** A refused token may only be out of date: with a new one the call is made once more, when its body is still at hand. */
  #isWorthAnotherTry(status: number): boolean {
    const { credentials } = this.#dependencies
    if (status !== 401 || credentials === undefined || this.#presented === undefined) return false
    const isAtHand = this.#body === null || Buffer.isBuffer(this.#body)
    if (!isAtHand || this.#isSecondTry || this.#clientGone) return false
    return credentials.refused(this.#presented)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#clientGone || this.#isOver) this.#leave()
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    statusMessage?: string,
  ): void {
    // Interim answers (103) belong to the connection.
    if (status < 200) return
    this.#discarding = this.#isWorthAnotherTry(status)
    if (this.#discarding) return
    this.#status = status
    this.#answer = answerHeaders(rawHeadersOf(controller.rawHeaders), this.#call.id)
    if (this.#clientGone) return
    this.#response.writeHead(status, statusMessage ?? '', this.#answer.raw)
    // A provider may send its headers long before it has something to say. Otherwise they travel with the first bytes.
    setImmediate(() => {
      if (this.#received === 0 && !this.#isOver && !this.#clientGone) this.#response.flushHeaders()
    })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#discarding) return
    this.#firstByteMs ??= performance.now() - this.#begunMs
    this.#received += chunk.length
    this.#answerBody?.add(chunk)
    if (this.#clientGone) return
    if (this.#call.isRecorded && this.#received === this.#answer?.contentLength) this.#held = chunk
    else this.#pass(controller, chunk)
  }

  /** Chunks that one read of the provider's connection brought leave in one write. None waits for another read. */
  #pass(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#passing.push(chunk)
    if (this.#passing.length > 1) return
    process.nextTick(() => {
      if (!this.#flush()) controller.pause()
    })
  }

  /** Whether the application's connection can take more. */
  #flush(): boolean {
    const [first] = this.#passing
    if (first === undefined || this.#clientGone) return true
    const bytes = this.#passing.length === 1 ? first : Buffer.concat(this.#passing)
    this.#passing = []
    return this.#response.write(bytes)
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (!this.#discarding) {
      const trailers = rawHeadersOf(controller.rawTrailers)
      if (trailers.length > 0) this.#response.addTrailers(pairsOf(trailers))
      void this.#finish(null, null)
      return
    }
    this.#discarding = false
    this.#isSecondTry = true
    void this.#dispatch().catch((error: unknown) => this.onResponseError(undefined, error as Error))
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    const isClients = this.#clientGone || (this.#request.destroyed && !this.#request.complete)
    void this.#finish(isClients ? 'client' : 'upstream', error)
  }

  /** The application has closed its connection, or has everything. */
  #onClose(): void {
    if (this.#isOver) return
    this.#clientGone = true
    if (this.#dependencies.clientGone === 'abort') this.#leave()
    else this.#controller?.resume()
  }

  /** Nothing has moved on the application's connection for its time limit. */
  #onStill(): void {
    // Waiting for the provider is no fault of the application's.
    if ((this.#response.socket?.writableLength ?? 0) === 0) return
    this.#dependencies.metrics.stalled()
    this.#response.destroy()
  }

  breakOff(error: Error): void {
    if (this.#controller === undefined) void this.#finish('upstream', error)
    else this.#controller.abort(error)
  }

  #leave(): void {
    this.#controller?.abort(new ClientGone('the application closed its connection'))
  }

  /** Records the call, then ends the answer: whole, broken off, or with the gateway's own. */
  async #finish(abortedBy: 'client' | 'upstream' | null, error: Error | null): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#deadline)
    this.#flush()
    const overMs = performance.now()
    const own =
      this.#answer === undefined && abortedBy === 'upstream' && error !== null
        ? answerForFailure(error)
        : null
    const status = this.#status ?? own?.status ?? null
    if (error !== null && abortedBy === 'upstream')
      this.#dependencies.log.warn(
        { request_id: this.#call.id, err: error },
        'the provider broke off or could not be reached',
      )
    await this.#record(abortedBy, error === null ? null : reasonOf(error, own), status, overMs)
    if (own !== null && !this.#response.headersSent) sendAnswer(this.#response, own, this.#call.id)
    else if (error === null) this.#response.end(this.#held)
    else this.#response.destroy()
    this.#measure(abortedBy, status, overMs)
    this.#dependencies.calls.delete(this)
  }

  async #record(
    abortedBy: 'client' | 'upstream' | null,
    error: string | null,
    status: number | null,
    overMs: number,
  ): Promise<void> {
    const { metrics, recorder } = this.#dependencies
    if (this.#requestBody === null || this.#answerBody === null) return
    for (const { cut } of [this.#requestBody, this.#answerBody]) if (cut !== null) metrics.cut(cut)
    const { id, caller, path, labels } = this.#call
    const isReached = this.#sentMs > 0
    // A call whose request never came in whole has not been made.
    if (isReached) {
      await recorder({
        id,
        caller,
        path,
        labels,
        request: this.#requestBody.bytes(),
        answer: this.#answer === undefined ? null : { ...this.#answer, ...this.#answerBody.bytes() },
        status,
        latencyMs: overMs - this.#begunMs,
        timeToFirstByteMs: this.#firstByteMs,
        // Without an answer nothing was broken off by the provider: it failed.
        abortedBy: this.#answer === undefined && abortedBy === 'upstream' ? null : abortedBy,
        error,
      })
    }
    this.#requestBody.release()
    this.#answerBody.release()
  }

  #measure(abortedBy: 'client' | 'upstream' | null, status: number | null, overMs: number): void {
    const { metrics } = this.#dependencies
    const waited = this.#sentMs === 0 ? 0 : overMs - this.#sentMs
    metrics.ended(status)
    metrics.added((performance.now() - this.#begunMs - waited) / 1_000)
    metrics.answerBytes(this.#received)
    if (this.#firstByteMs !== null) metrics.firstByte(this.#firstByteMs / 1_000)
    if (abortedBy !== null) metrics.aborted(abortedBy)
  }
}
