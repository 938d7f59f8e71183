import type { AnswerHead } from '#runtime/http1/answer-head.ts'
import type { AnswerHandler, Exchange } from '#runtime/http1/outgoing-call.ts'
import { createStatusReader } from './status-line.ts'

/** Result of a request: a status if its line has come, otherwise an error. */
export interface Answer {
  status: number | null
  error: Error | null
  /** Until the status line, or until the failure. */
  durationMs: number
  /** The beginning of the body. */
  excerpt: Buffer
}

export interface AnswerLimits {
  /** For everything up to the status line. */
  timeoutMs: number
  /** For the rest, from the status line on. */
  restMs: number
  excerptBytes: number
  /** A shorter answer is read to its end, so its connection can be reused; a longer one is aborted. */
  maxBytes: number
}

const nothing = Buffer.alloc(0)

/** No status line within the limit. */
export class AnswerTimedOut extends Error {}

/**
 * Reads an answer until it ends, fails or takes too long. The status line decides as soon as it is complete:
 * a receiver that then sends a byte a second has answered in time (specification 3.3).
 */
export class AnswerReader implements AnswerHandler {
  readonly #limits: AnswerLimits
  readonly #startedAt = performance.now()
  readonly #onAnswer: (answer: Answer) => void
  readonly #chunks: Buffer[] = []
  readonly #statusLine = createStatusReader()
  #exchange: Exchange | undefined
  #timer: NodeJS.Timeout
  #status: number | null = null
  #durationMs: number | undefined
  #bytes = 0
  #isOver = false

  constructor(limits: AnswerLimits, onAnswer: (answer: Answer) => void) {
    this.#limits = limits
    this.#onAnswer = onAnswer
    // The immediate reads an answer that has arrived: a busy process must not blame receivers.
    this.#timer = setTimeout(() => setImmediate(() => this.#timeOut()), limits.timeoutMs)
  }

  #timeOut(): void {
    if (this.#status === null) this.#cut(new AnswerTimedOut())
  }

  #decide(status: number): void {
    if (this.#status !== null || this.#isOver) return
    this.#status = status
    this.#durationMs = this.#elapsedMs()
    clearTimeout(this.#timer)
    // Most answers end within this turn and need no timer.
    queueMicrotask(() => {
      if (this.#isOver) return
      this.#timer = setTimeout(() => this.#cut(new Error('the rest takes too long')), this.#limits.restMs)
    })
  }

  /** Call once the request is being sent. */
  begun(exchange: Exchange): void {
    this.#exchange = exchange
  }

  onBytes(bytes: Buffer): void {
    if (this.#status !== null) return
    const status = this.#statusLine.add(bytes)
    if (status !== undefined) this.#decide(status)
  }

  onAnswer({ status }: AnswerHead): void {
    this.#decide(status)
  }

  onData(chunk: Buffer): void {
    const missing = this.#limits.excerptBytes - this.#bytes
    // Copied: a slice would keep the connection's whole buffer in memory.
    if (missing > 0) this.#chunks.push(Buffer.from(chunk.subarray(0, missing)))
    this.#bytes += chunk.length
    if (this.#bytes > this.#limits.maxBytes) this.#cut(new Error('the answer is too long'))
  }

  onEnd(): void {
    this.#end(null)
  }

  onError(error: Error): void {
    this.#end(error)
  }

  #cut(reason: Error): void {
    this.#end(reason)
    this.#exchange?.abort(reason)
  }

  #end(error: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#onAnswer({
      status: this.#status,
      error: this.#status === null ? (error ?? new Error('no status')) : null,
      durationMs: this.#durationMs ?? this.#elapsedMs(),
      excerpt: this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : (this.#chunks[0] ?? nothing),
    })
  }

  #elapsedMs(): number {
    return Math.round((performance.now() - this.#startedAt) * 1_000) / 1_000
  }
}
