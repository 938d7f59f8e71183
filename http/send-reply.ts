import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import { codeOf, messageOf } from '#runtime/errors.ts'
import type { Reply } from './route.ts'

/** A client that reads nothing for so long is given up. */
const maxStalledMs = 60_000
/** The kernel buffers smaller answers, so no client can hold them up. */
const smallBytes = 16 * 1024

interface SendOptions {
  /** Reserves memory for an answer until the client has read it; throws when there is none. */
  reserve: (byteLength: number) => void
  /** Called when a client stopped reading. */
  onStalled: () => void
  stalledMs?: number
}

/** Sends a handler's reply. */
export async function sendReply(
  request: Request,
  response: Response,
  reply: Reply,
  { reserve, onStalled, stalledMs = maxStalledMs }: SendOptions,
): Promise<void> {
  const { status = 200, headers = {}, json, jsonText, bytes: data, etag, stream } = reply
  const sent = response.status(status)
  const allHeaders = { ...headers, ...(etag !== undefined && tagged(etag)) }
  if (etag !== undefined && isKnown(request.headers['if-none-match'], etag)) {
    sent.set(allHeaders).status(304).end()
  } else if (stream !== undefined) {
    closeWhenStalled(sent, stalledMs, onStalled)
    await sendStream(sent.set(allHeaders).type(stream.contentType), stream.chunks)
  } else if (data !== undefined) {
    sent.set(allHeaders).type(data.contentType).send(data.data)
  } else if (json === undefined && jsonText === undefined) {
    sent.set(allHeaders).status(204).end()
  } else {
    const text = typeof jsonText === 'function' ? jsonText() : (jsonText ?? JSON.stringify(json))
    const bytes = Buffer.from(text)
    if (bytes.length >= smallBytes) {
      // Before the headers: an error here is answered without them.
      reserve(bytes.length)
      closeWhenStalled(sent, stalledMs, onStalled)
    }
    sent.set(allHeaders).type('json').send(bytes)
  }
}

/** Answers depend on the key: only the caller may cache them, and must revalidate. */
function tagged(etag: string): Record<string, string> {
  return {
    etag: `"${etag}"`,
    'cache-control': 'private, no-cache',
    vary: 'X-Service-Key, Authorization',
  }
}

/**
 * Whether `If-None-Match` names the tag: several tags, weak ones, or any (`*`). Not express's
 * `request.fresh`, which obeys `Cache-Control: no-cache`: `fetch` sends that with every `If-None-Match`, and
 * would never get a 304.
 */
function isKnown(header: string | undefined, etag: string): boolean {
  return (header ?? '')
    .split(',')
    .some((part) => ['*', `"${etag}"`].includes(part.trim().replace(/^W\//, '')))
}

/**
 * Closes the connection of a client that reads nothing. While nothing is queued, the server is the slow side.
 */
function closeWhenStalled(response: Response, stalledMs: number, onStalled: () => void): void {
  response.on('timeout', () => {
    if (response.writableLength === 0) {
      response.setTimeout(stalledMs)
      return
    }
    onStalled()
    response.destroy()
  })
  // Node restarts the timer with every byte sent and ends it with the answer.
  response.setTimeout(stalledMs)
}

/** Codes of a client that disconnected, before or during the answer: not an error of the server. */
const disconnectCodes = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE'])

/** An error closes the connection without the last chunk, so that no client takes a part for the whole. */
async function sendStream(response: Response, chunks: AsyncIterable<string>): Promise<void> {
  const source = Readable.from(chunks)
  try {
    await pipeline(source, response)
  } catch (error) {
    if (disconnectCodes.has(codeOf(error))) return
    throw new Error(`the answer broke off: ${messageOf(error)}`, { cause: error })
  } finally {
    // If the client left before the first chunk, pipeline refuses and leaves the source open.
    source.destroy()
  }
}
