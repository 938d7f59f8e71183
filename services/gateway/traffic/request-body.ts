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
export function forwardedBody(
  request: IncomingMessage,
  captured: CapturedBody | null,
): ForwardedBody | Promise<Buffer> {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  if (coding === undefined && (length === undefined || length === '0')) return null
  if (coding !== undefined || Number(length) > gatheredBytes)
    return Readable.from(passBody(request, captured), { objectMode: false })
  return gatherBody(request, captured)
}

/** Rejects when the connection closes before the body is whole. By events: an iterator costs as much as the rest of the way in. */
function gatherBody(request: IncomingMessage, captured: CapturedBody | null): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => {
      captured?.add(chunk)
      chunks.push(chunk)
    })
    request.once('end', () => {
      const [first] = chunks
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks))
    })
    request.once('error', reject)
    request.once('close', () => {
      if (!request.complete) reject(new Error('the application closed its connection'))
    })
  })
}

async function* passBody(request: IncomingMessage, captured: CapturedBody | null): AsyncGenerator<Buffer> {
  // A provider may answer before it has read everything; the application still gets that answer.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  for await (const chunk of chunks) {
    captured?.add(chunk)
    yield chunk
  }
}
