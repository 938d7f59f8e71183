import type { AnswerHead } from '#runtime/http1/answer-head.ts'
import type { AnswerHandler, Exchange } from '#runtime/http1/outgoing-call.ts'
import { createStatusReader } from './status-line.ts'

/** What came of a request: a status if its line has come, an error if there is none. */
export interface Answer {
  status: number | null
  error: Error | null
  /** Until the status line, or until it was clear that there is none. */
  durationMs: number
  /** The beginning of the body, as far as it came. */
  excerpt: Buffer
}

export interface AnswerLimits {
  /** For everything up to the status line. */
  timeoutMs: number
  /** For the rest, from the status line on. */
  restMs: number
  excerptBytes: number
  /**
   * An answer up to here is read to its end, so that its connection serves again; a longer one is cut off.
   */
  maxBytes: number
}

const nothing = Buffer.alloc(0)

/** The limit passed before the status line came. */
export class AnswerTimedOut extends Error {}

/**
 * Takes an answer as it comes and is through when it ends, breaks or takes too long. The status line decides
 * as soon as it is whole, whatever is behind it: a receiver that then sends a byte a second has answered in
 * time (specification 3.3).
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
    // What has come and was not read yet is read before the immediate: a busy process does not blame
    // receivers.
    this.#timer = setTimeout(() => setImmediate(() => this.#timeOut()), limits.timeoutMs)
  }

  #timeOut(): void {
    if (this.#status === null) this.#cut(new AnswerTimedOut())
  }

  /** The status line has come; the rest is worth a moment. */
  #decide(status: number): void {
    if (this.#status !== null || this.#isOver) return
    this.#status = status
    this.#durationMs = this.#elapsedMs()
    clearTimeout(this.#timer)
    // What came with the status line is read within this turn, and that is mostly all of it: then nothing has
    // to be timed.
    queueMicrotask(() => this.#awaitRest())
  }

  /** The request is on its way by `exchange`. */
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
    // Copied, because a part of a chunk keeps all of it, and what the connection read with it.
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

  #awaitRest(): void {
    if (this.#isOver) return
    this.#timer = setTimeout(() => this.#cut(new Error('the rest takes too long')), this.#limits.restMs)
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
