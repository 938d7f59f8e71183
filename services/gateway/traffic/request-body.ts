import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { CapturedBody } from '../recording/captured-body.ts'

/** Longer bodies, and those of unknown length, are passed on while they come. */
const gatheredBytes = 256 * 1024

/** A body as undici takes it: nothing, all of it, or as it comes. */
export type ForwardedBody = null | Buffer | Readable

/**
 * The body of `request`, of which `captured` gets a copy. A short one of known length is gathered first: it goes out in one
 * write with its headers.
 */
export async function forwardedBody(
  request: IncomingMessage,
  captured: CapturedBody | null,
): Promise<ForwardedBody> {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  if (coding === undefined && (length === undefined || length === '0')) return null
  const passing = passBody(request, captured)
  if (coding !== undefined || Number(length) > gatheredBytes)
    return Readable.from(passing, { objectMode: false })
  const chunks: Buffer[] = []
  for await (const chunk of passing) chunks.push(chunk)
  const [first] = chunks
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)
}

async function* passBody(request: IncomingMessage, captured: CapturedBody | null): AsyncGenerator<Buffer> {
  // A provider may answer before it has read everything; the application still gets that answer.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  for await (const chunk of chunks) {
    captured?.add(chunk)
    yield chunk
  }
}
