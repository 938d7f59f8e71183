import { isUtf8 } from 'node:buffer'
import { ofProcess } from '../of-process.ts'

export type FetchInput = string | URL | Request
export type Fetch = (input: FetchInput, init?: RequestInit) => Promise<Response>

/** Looked up at each call, as programs may replace the global one. */
export const platformFetch: Fetch = (input, init) => fetch(input, init)

/** As it was before any of our fetches could replace it. */
const original = ofProcess('original fetch', () => ({ fetch: globalThis.fetch }))

/** Whether a fetch is the platform's own, below which nothing records. */
export function isOriginal(given: Fetch): boolean {
  return (given === platformFetch ? globalThis.fetch : given) === original.fetch
}

/** A `Request`, also one of a fetch that is not the platform's. */
export function requestIn(input: FetchInput): Request | undefined {
  return typeof input === 'object' && typeof (input as Partial<Request>).clone === 'function'
    ? (input as Request)
    : undefined
}

export function urlOf(input: FetchInput): string {
  if (typeof input === 'string') return input
  return requestIn(input)?.url ?? (input as URL).href
}

/**
 * The text of a call's body, read without taking it from the caller. Undefined for forms, streams and bytes
 * that are no text: those are uploads, not model calls.
 */
export function bodyTextOf(input: FetchInput, init: RequestInit | undefined) {
  const given = init?.body ?? undefined
  if (typeof given === 'string') return given
  if (given !== undefined) return textOfBytes(given)
  const body = requestIn(input)?.clone().text()
  // It rejects again when the record is built, which reports it.
  body?.catch(() => undefined)
  return body
}

/** Decoded at once, as the caller may use its buffer again. */
function textOfBytes(body: unknown): string | undefined {
  if (!(body instanceof ArrayBuffer || ArrayBuffer.isView(body))) return undefined
  const bytes = ArrayBuffer.isView(body)
    ? Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    : Buffer.from(body)
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}
