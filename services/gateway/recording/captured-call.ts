import type { IncomingHttpHeaders } from 'node:http'
import { Base64Filter } from '#capture/media/base64-filter.ts'
import { passingMedia } from '#capture/media/describe-media.ts'
import { boundaryOf, FormReader } from '#capture/media/form-reader.ts'
import { isMediaCall, isMediaType } from '#capture/media/media-calls.ts'
import { createArrivals, type Arrivals } from '#capture/streams/arrivals.ts'
import { streamTextFactor } from '#capture/streams/assemble-stream.ts'
import { isEventStream, isJsonLines } from '#capture/streams/stream-types.ts'
import type { CaptureBudget } from './capture-budget.ts'
import { CapturedBody, type CapturedBytes, type CutReason } from './captured-body.ts'

/** Keeps words and describes media, as a body passes. */
interface BodyFilter {
  /** What to keep of a chunk. */
  push(chunk: Buffer): Buffer
  /** What to keep at the end. */
  end(): Buffer
}

/** What is known before the first byte. */
interface Asks {
  path: string
  headers: IncomingHttpHeaders
}

const nothing = Buffer.alloc(0)

/** The captured bodies of a recorded call. */
export class CapturedCall {
  readonly request: CapturedBody
  readonly answer: CapturedBody

  /** Arrival times by position in the recorded answer; null for a compressed one. */
  arrivals: Arrivals | null = null

  readonly #budget: CaptureBudget
  readonly #maxBodyBytes: number
  /** Whether the call is one for sound or pictures (capture/media/). */
  readonly #isMedia: boolean
  #requestFilter: BodyFilter | undefined
  #answerFilter: BodyFilter | undefined
  /** Bytes of a form's fields. */
  #formBytes = 0

  /** Without `asks`, nothing is known to hold media. */
  constructor(budget: CaptureBudget, maxBodyBytes: number, asks?: Asks) {
    this.#budget = budget
    this.#maxBodyBytes = maxBodyBytes
    this.#isMedia = asks !== undefined && isMediaCall(asks.path)
    this.request = new CapturedBody(budget, maxBodyBytes)
    this.answer = new CapturedBody(budget, maxBodyBytes)
    const { 'content-type': type = '', 'content-encoding': encoding = '' } = asks?.headers ?? {}
    if (encoding === '') this.#requestFilter = this.#filterOf(type)
  }

  asked(chunk: Buffer): void {
    this.request.add(this.#requestFilter?.push(chunk) ?? chunk)
  }

  /**
   * Called before the first byte. A stream may be longer, as only its assembled message must fit; so may a
   * compressed answer, whose end holds the token counts.
   */
  answers({ contentType, contentEncoding }: { contentType: string; contentEncoding: string }): void {
    this.arrivals = contentEncoding === '' ? createArrivals() : null
    if (contentEncoding === '' || isMediaType(contentType)) this.#answerFilter = this.#filterOf(contentType)
    if (isEventStream(contentType) || isJsonLines(contentType) || contentEncoding !== '')
      this.answer.allow(this.#maxBodyBytes * streamTextFactor)
  }

  answered(chunk: Buffer, atMs: number): void {
    const kept = this.#answerFilter?.push(chunk) ?? chunk
    this.answer.add(kept)
    this.arrivals?.add(kept.length, atMs)
  }

  /** Called when no more bytes come. */
  requestBytes(): CapturedBytes {
    if (this.#requestFilter !== undefined) this.request.add(this.#requestFilter.end())
    this.#requestFilter = undefined
    return this.request.bytes()
  }

  /** Called when no more bytes come. */
  answerBytes(): CapturedBytes & { isMedia: boolean } {
    if (this.#answerFilter !== undefined) this.answer.add(this.#answerFilter.end())
    this.#answerFilter = undefined
    return { ...this.answer.bytes(), isMedia: this.#isMedia }
  }

  /** Why bodies are truncated. */
  cuts(): CutReason[] {
    return [this.request.cut, this.answer.cut].filter((cut) => cut !== null)
  }

  release(): void {
    this.request.release()
    this.answer.release()
    this.#budget.release(this.#formBytes)
    this.#formBytes = 0
  }

  #filterOf(contentType: string): BodyFilter | undefined {
    const boundary = boundaryOf(contentType)
    if (boundary !== undefined) return this.#formFilter(boundary)
    if (isMediaType(contentType)) return mediaFilter(contentType)
    return this.#isMedia ? new Base64Filter() : undefined
  }

  #formFilter(boundary: string): BodyFilter {
    const form = new FormReader(boundary, (byteLength) => {
      const fits = this.#formBytes + byteLength <= this.#maxBodyBytes && this.#budget.acquire(byteLength)
      if (fits) this.#formBytes += byteLength
      return fits
    })
    return {
      push(chunk) {
        form.push(chunk)
        return nothing
      },
      end: () => form.json(),
    }
  }
}

function mediaFilter(contentType: string): BodyFilter {
  const media = passingMedia(contentType.split(';', 1)[0]?.trim() ?? null)
  return {
    push(chunk) {
      media.add(chunk)
      return nothing
    },
    end: () => Buffer.from(JSON.stringify(media.part())),
  }
}
