import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import { messageOf } from '#runtime/errors.ts'
import type { Reply } from './route.ts'

/** A client that takes nothing for so long has stopped reading. */
const maxStalledMs = 60_000

interface SendOptions {
  /** Told of a client that stopped reading. */
  onStalled: () => void
  stalledMs?: number
}

/** Answers with what a handler gave. */
export async function sendReply(
  request: Request,
  response: Response,
  reply: Reply,
  { onStalled, stalledMs = maxStalledMs }: SendOptions,
): Promise<void> {
  const { status = 200, headers = {}, json, jsonText, etag, stream } = reply
  response.set(headers)
  if (etag !== undefined) {
    // What one key sees is nobody else's: kept by whoever asked, and asked about each time.
    response.set({
      etag: `"${etag}"`,
      'cache-control': 'private, no-cache',
      vary: 'X-Service-Key, Authorization',
    })
    if (isKnown(request.headers['if-none-match'], etag)) {
      response.status(304).end()
      return
    }
  }
  if (stream !== undefined) {
    leaveWhenStalled(response, stalledMs, onStalled)
    await sendStream(response.status(status).type(stream.contentType), stream.chunks)
  } else if (jsonText !== undefined) {
    response
      .status(status)
      .type('json')
      .send(typeof jsonText === 'function' ? jsonText() : jsonText)
  } else if (json === undefined) response.status(204).end()
  else response.status(status).json(json)
}

/** An `If-None-Match` of several tags, weak ones among them, or of any (`*`). */
function isKnown(header: string | undefined, etag: string): boolean {
  return (header ?? '')
    .split(',')
    .some((part) => ['*', `"${etag}"`].includes(part.trim().replace(/^W\//, '')))
}

/** Closes the connection on a client that does not take what waits for it. Where nothing waits we are slow, and it is not to blame. */
function leaveWhenStalled(response: Response, stalledMs: number, onStalled: () => void): void {
  response.on('timeout', () => {
    if (response.writableLength === 0) {
      response.setTimeout(stalledMs)
      return
    }
    onStalled()
    response.destroy()
  })
  // Node starts it anew whenever the socket has sent something, and ends it with the answer.
  response.setTimeout(stalledMs)
}

/** On the way, or before it: what the client does not want is no failure of ours. */
const clientLeft = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE'])

/** A failure on the way ends the connection without the last chunk, so that nobody takes a part for the whole. */
async function sendStream(response: Response, chunks: AsyncIterable<string>): Promise<void> {
  const source = Readable.from(chunks)
  try {
    await pipeline(source, response)
  } catch (error) {
    if (clientLeft.has(String((error as NodeJS.ErrnoException).code))) return
    throw new Error(`the answer broke off: ${messageOf(error)}`, { cause: error })
  } finally {
    // Where the client left before the first chunk, pipeline refuses and leaves the source open.
    source.destroy()
  }
}
