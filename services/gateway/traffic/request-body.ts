import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { chunkOverheadBytes } from '#runtime/chunk-overhead.ts'
import { CallRefused, notCheckable } from '../budgets/key-answers.ts'
import { maxCheckedBytes, type KeyCheck } from '../budgets/key-guard.ts'
import type { CaptureBudget } from '../recording/capture-budget.ts'
import type { CapturedCall } from '../recording/captured-call.ts'

/** Longer bodies, and those of unknown length, are streamed. */
const maxBufferedBytes = 256 * 1024
/** Maximum of a body that is signed whole. Bedrock takes 25 MB. */
const maxSignedBytes = 32 * 1024 * 1024
const firstGatheredBytes = 64 * 1024

/** A body for the provider: none, buffered, or streamed. */
export type ForwardedBody = null | Buffer | Readable

/** One of the two is called, once. */
interface BodyHandlers {
  ready: (body: ForwardedBody) => void
  /** The connection closed before the body was complete. A streamed body reports that itself. */
  broken: (error: Error) => void
}

/** The body exceeds REQUEST_MAX_BYTES. */
export class RequestTooLarge extends Error {}

/** The body must be signed, and is too long to be kept in memory for that. */
export class TooLargeToSign extends Error {}

/** The body must be kept in memory, and the budget is used up. */
export class NoMemory extends Error {}

interface BodyLimits {
  maxBytes: number
  /** Whether the body is needed as a whole before it is forwarded. */
  isWhole: boolean
  /** Decides over the call once its body is there. */
  check: KeyCheck | undefined
}

/**
 * The body of a request on its way to the provider; `captured` gets a copy. Buffered bodies share a memory
 * budget: without one, a single key with 20,000 connections took 5 GB.
 */
export class RequestBody {
  readonly #request: IncomingMessage
  readonly #captured: Pick<CapturedCall, 'asked'> | null
  readonly #budget: CaptureBudget
  readonly #maxBytes: number
  readonly #isWhole: boolean
  readonly #check: KeyCheck | undefined
  #bufferedBytes = 0
  #isLeft = false
  #passing: Readable | undefined
  #received = 0

  constructor(
    request: IncomingMessage,
    captured: Pick<CapturedCall, 'asked'> | null,
    budget: CaptureBudget,
    { maxBytes, isWhole, check }: BodyLimits,
  ) {
    this.#request = request
    this.#captured = captured
    this.#budget = budget
    this.#maxBytes = maxBytes
    this.#isWhole = isWhole
    this.#check = check
  }

  /** Bytes received. */
  get received(): number {
    return this.#received
  }

  /** Forwards the body, after the key's check if there is one. */
  forward(handlers: BodyHandlers): void {
    if (this.#check === undefined) this.#forward(handlers)
    else this.#gatherChecked(this.#check, handlers)
  }

  /** Buffers a short body of known length if memory allows, to send it in one write with its headers. */
  #forward(handlers: BodyHandlers): void {
    const { 'content-length': length, 'transfer-encoding': coding } = this.#request.headers
    if (coding === undefined && (length === undefined || length === '0')) handlers.ready(null)
    else if (coding === undefined && this.#canBuffer(Number(length))) this.#buffer(handlers)
    else if (this.#isWhole) this.#gather(handlers, Number(length ?? firstGatheredBytes))
    else {
      this.#passing = this.#stream()
      handlers.ready(this.#passing)
    }
  }

  /** The call has ended: the rest of the body is discarded. */
  leave(): void {
    this.#isLeft = true
    this.#budget.release(this.#bufferedBytes)
    this.#bufferedBytes = 0
    if (this.#request.complete) return
    this.#passing?.destroy()
    drainRequest(this.#request, this.#maxBytes)
  }

  #canBuffer(length: number): boolean {
    if (length > maxBufferedBytes || !this.#budget.acquire(length)) return false
    this.#bufferedBytes = length
    return true
  }

  #buffer({ ready, broken }: BodyHandlers): void {
    const length = this.#bufferedBytes
    let whole: Buffer | undefined
    let at = 0
    this.#request.on('data', (chunk: Buffer) => {
      this.#onChunk(chunk)
      // Copied if there are several chunks, as a chunk of one byte takes 640.
      if (chunk.length === length) whole = chunk
      else chunk.copy((whole ??= Buffer.allocUnsafeSlow(length)), at)
      at += chunk.length
    })
    this.#onEnd(() => ready(whole ?? null), broken)
  }

  /** Keeps a body of any length within the bounds, in a buffer that grows. */
  #gather({ ready, broken }: BodyHandlers, expectedBytes: number): void {
    let whole = Buffer.alloc(0)
    let length = 0
    if (expectedBytes > maxSignedBytes) {
      broken(new TooLargeToSign(`the request is larger than ${maxSignedBytes} bytes`))
      return
    }
    this.#request.on('data', (chunk: Buffer) => {
      this.#onChunk(chunk)
      if (this.#isLeft) return
      const needed = length + chunk.length
      if (needed > whole.length) {
        const grown =
          whole.length === 0
            ? Math.max(expectedBytes, needed)
            : Math.min(maxSignedBytes, Math.ceil(1.5 * needed))
        const fault = this.#faultOf(needed, grown - whole.length)
        if (fault !== undefined) {
          broken(fault)
          return
        }
        const longer = Buffer.allocUnsafeSlow(grown)
        whole.copy(longer, 0, 0, length)
        whole = longer
      }
      chunk.copy(whole, length)
      length = needed
    })
    this.#onEnd(
      () => {
        if (!this.#isLeft) ready(whole.subarray(0, length))
      },
      (error) => {
        if (!this.#isLeft) broken(error)
      },
    )
  }

  /** Acquires memory for a body that must be whole. */
  #faultOf(bytes: number, more: number): Error | undefined {
    if (bytes > maxSignedBytes)
      return new TooLargeToSign(`the request is larger than ${maxSignedBytes} bytes`)
    if (bytes > this.#maxBytes)
      return new RequestTooLarge(`the request is larger than ${this.#maxBytes} bytes`)
    if (!this.#budget.acquire(more)) return new NoMemory('no memory is left for bodies')
    this.#bufferedBytes += more
    return undefined
  }

  /** Waits for the whole body, and for what the check says of it. */
  #gatherChecked(check: KeyCheck, { ready, broken }: BodyHandlers): void {
    const chunks: Buffer[] = []
    let isWhole = true
    this.#request.on('data', (chunk: Buffer) => {
      this.#onChunk(chunk)
      const takes = chunk.length + chunkOverheadBytes
      isWhole &&= this.#received <= maxCheckedBytes && this.#budget.acquire(takes)
      if (isWhole) {
        this.#bufferedBytes += takes
        chunks.push(chunk)
      } else broken(new CallRefused(notCheckable))
    })
    const checked = async () => {
      if (!isWhole) return
      const whole = Buffer.concat(chunks)
      const refusal = await check.admit(whole)
      if (refusal === undefined) ready(this.#checked(whole))
      else broken(refusal)
    }
    this.#onEnd(() => void checked().catch(broken), broken)
  }

  /** As it came: in one write where its length is known or it is signed, in chunks otherwise. */
  #checked(whole: Buffer): ForwardedBody {
    const { 'content-length': length, 'transfer-encoding': coding } = this.#request.headers
    if (coding === undefined) return length === undefined || length === '0' ? null : whole
    if (this.#isWhole) return whole
    return Readable.from([whole])
  }

  /** Uses events: an iterator would block other readers of the request while it waits for a chunk. */
  #stream(): Readable {
    const request = this.#request
    const body = new Readable({ read: () => request.resume() })
    // The reader handles errors; without a reader they are ignored.
    body.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => {
      if (body.destroyed) return
      this.#onChunk(chunk)
      if (this.#received > this.#maxBytes)
        body.destroy(new RequestTooLarge(`the request is larger than ${this.#maxBytes} bytes`))
      else if (!body.push(chunk)) request.pause()
    })
    this.#onEnd(
      () => body.push(null),
      (error) => body.destroy(error),
    )
    return body
  }

  #onChunk(chunk: Buffer): void {
    this.#received += chunk.length
    this.#captured?.asked(chunk)
  }

  /** Calls one of the two, once: the connection may break after the body is complete. */
  #onEnd(whole: () => void, broken: (error: Error) => void): void {
    let isOver = false
    const end = (work: () => void) => {
      if (!isOver) work()
      isOver = true
    }
    this.#request.once('end', () => end(whole))
    this.#request.once('error', (error) => end(() => broken(error)))
    this.#request.once('close', () => {
      if (!this.#request.complete) end(() => broken(new Error('the application closed its connection')))
    })
  }
}

/**
 * Reads and discards the rest of a request that has its answer, up to `maxBytes`. Closing a connection with
 * unread bytes resets it, and an application that writes everything before it reads would lose the answer.
 */
export function drainRequest(request: IncomingMessage, maxBytes: number): void {
  if (request.complete || request.destroyed) return
  let left = maxBytes
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.destroy()
  })
  request.resume()
}

/**
 * For an answer that starts before its request is complete: delays the close that the application asked for
 * until the request is read.
 */
export function closeOnceRead(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || response.shouldKeepAlive || request.httpVersion !== '1.1') return
  response.shouldKeepAlive = true
  request.once('end', () => {
    if (response.writableFinished) request.socket.destroySoon()
    else response.once('finish', () => request.socket.destroySoon())
  })
}
