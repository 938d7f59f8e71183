import type { IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  type Zlib,
} from 'node:zlib'
import { chunkOverheadBytes } from '#runtime/chunk-overhead.ts'
import type { BodyReservation } from './body-budget.ts'
import { Problem } from './problem.ts'

interface BodyLimits {
  maxBytes: number
  /** How long it may take to arrive. */
  timeoutMs: number
  reservation: BodyReservation
}

/**
 * The decoded body of a request; empty without one. Rejects with 400, 408, 413, 415 and 503. The rest of a
 * refused body is discarded, so that a client that writes before it reads gets its answer.
 */
export async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  if (coding === undefined && (length === undefined || length === '0')) return Buffer.alloc(0)
  // Closed while the key was looked up: no event will follow.
  if (request.destroyed) throw unreadable()
  const decoder = decoderOf(request)
  if (decoder === undefined && Number(length) > limits.maxBytes) throw tooLarge()
  return await collect(request, decoder, limits)
}

type Decoder = Transform & Pick<Zlib, 'bytesWritten'>

function decoderOf({ headers }: IncomingMessage): Decoder | undefined {
  switch ((headers['content-encoding'] ?? 'identity').toLowerCase()) {
    case 'identity':
      return undefined
    case 'gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    case 'zstd':
      return createZstdDecompress()
    default:
      throw new Problem(
        415,
        'ENCODING_UNSUPPORTED',
        'Content-Encoding must be gzip, deflate, br, zstd or absent',
      )
  }
}

function collect(
  request: IncomingMessage,
  decoder: Decoder | undefined,
  { maxBytes, timeoutMs, reservation }: BodyLimits,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const source = decoder ?? request
    const chunks: Buffer[] = []
    let size = 0
    let received = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      try {
        if (size > maxBytes) throw tooLarge()
        reservation.reserve(chunk.length + chunkOverheadBytes)
        chunks.push(chunk)
      } catch (refusal) {
        fail(refusal as Problem)
      }
    }
    const fail = (refusal: Problem) => {
      clearTimeout(timer)
      source.off('data', onData)
      chunks.length = 0
      if (decoder !== undefined) request.unpipe(decoder)
      decoder?.destroy()
      request.resume()
      reject(refusal)
    }
    const broken = (error?: Error) => fail(unreadable(error))
    const timer = setTimeout(() => {
      reservation.noteSlow()
      fail(tooSlow(timeoutMs))
    }, timeoutMs).unref()
    source.on('data', onData)
    source.once('end', () => {
      // Bytes after the end of a coding are ambiguous.
      if (decoder !== undefined && decoder.bytesWritten < received) {
        broken()
        return
      }
      clearTimeout(timer)
      const [first] = chunks
      const body = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, size)
      // The listeners live as long as the request and would keep the body in memory until its handler ends.
      chunks.length = 0
      resolve(body)
    })
    // Never removed: a second error would have no listener.
    request.on('error', broken)
    decoder?.on('error', broken)
    if (decoder === undefined) return
    request.on('data', (chunk: Buffer) => (received += chunk.length))
    request.pipe(decoder)
  })
}

function unreadable(cause?: Error): Problem {
  return new Problem(400, 'BAD_REQUEST', 'the request could not be read', { cause })
}

function tooLarge(): Problem {
  return new Problem(413, 'BODY_TOO_LARGE', 'the body is larger than this route takes')
}

/** Closes the connection: half a body may be on it. */
function tooSlow(timeoutMs: number): Problem {
  return new Problem(408, 'BODY_TOO_SLOW', `the body did not come within ${timeoutMs / 1_000} s`, {
    headers: { connection: 'close' },
  })
}
