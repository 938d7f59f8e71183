import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { CaptureBudget } from '../recording/capture-budget.ts'
import type { CapturedBody } from '../recording/captured-body.ts'

/** Longer bodies, and those of unknown length, are passed on while they come. */
const maxBufferedBytes = 256 * 1024

/** A body as it goes to the provider: nothing, all of it, or as it comes. */
export type ForwardedBody = null | Buffer | Readable

/** What becomes of a body: one of the two is called, once. */
interface BodyHandlers {
  ready: (body: ForwardedBody) => void
  /** The connection closed before it was whole. A body that passes as it comes breaks itself. */
  broken: (error: Error) => void
}

/** More came than REQUEST_MAX_BYTES. */
export class RequestTooLarge extends Error {}

/**
 * The body of a request on its way to the provider; `captured` gets a copy. What all gathered ones take comes from `gathering`: with a key
 * and 20,000 connections they came to 5 GB.
 */
export class RequestBody {
  readonly #request: IncomingMessage
  readonly #captured: CapturedBody | null
  readonly #budget: CaptureBudget
  readonly #maxBytes: number
  #bufferedBytes = 0
  #passing: Readable | undefined
  #received = 0

  constructor(
    request: IncomingMessage,
    captured: CapturedBody | null,
    budget: CaptureBudget,
    maxBytes: number,
  ) {
    this.#request = request
    this.#captured = captured
    this.#budget = budget
    this.#maxBytes = maxBytes
  }

  /** Bytes that have come. */
  get received(): number {
    return this.#received
  }

  /** A short one of known length is gathered first, where there is room: it goes out in one write with its headers. */
  forward(handlers: BodyHandlers): void {
    const { 'content-length': length, 'transfer-encoding': coding } = this.#request.headers
    if (coding === undefined && (length === undefined || length === '0')) handlers.ready(null)
    else if (coding === undefined && this.#canBuffer(Number(length))) this.#buffer(handlers)
    else {
      this.#passing = this.#stream()
      handlers.ready(this.#passing)
    }
  }

  /** The call is over: nobody wants what has not come yet. */
  leave(): void {
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
      // Copied where it comes in several: each chunk of one byte takes 640.
      if (chunk.length === length) whole = chunk
      else chunk.copy((whole ??= Buffer.allocUnsafeSlow(length)), at)
      at += chunk.length
    })
    this.#onEnd(() => ready(whole ?? null), broken)
  }

  /** By events: an iterator keeps hold of the request for as long as it waits for a chunk, and nothing else can read it. */
  #stream(): Readable {
    const request = this.#request
    const body = new Readable({ read: () => request.resume() })
    // Whoever reads it is told; until somebody does, an error is nobody's.
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
    this.#captured?.add(chunk)
  }

  /** One of the two is called, once: the connection may also break when the body is whole. */
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
 * Reads what is left of a request that has its answer, up to `maxBytes`: to close a connection on bytes that nobody read resets
 * it, and an application that writes everything before it reads would never see the answer.
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
 * For an answer that begins before its request has come whole: a connection that the application wants closed is closed when all
 * is read, not with the answer's end.
 */
export function closeOnceRead(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || response.shouldKeepAlive || request.httpVersion !== '1.1') return
  response.shouldKeepAlive = true
  request.once('end', () => {
    if (response.writableFinished) request.socket.destroySoon()
    else response.once('finish', () => request.socket.destroySoon())
  })
}
