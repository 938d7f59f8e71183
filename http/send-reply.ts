import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import { codeOf, messageOf } from '#runtime/errors.ts'
import type { Reply } from './route.ts'

/** A client that takes nothing for so long has stopped reading. */
const maxStalledMs = 60_000
/** Smaller answers the kernel takes at once: nobody waits for their client. */
const smallBytes = 16 * 1024

interface SendOptions {
  /** Keeps room for an answer of so many bytes until the client has read it; throws when there is none. */
  keepRoom: (byteLength: number) => void
  /** Told of a client that stopped reading. */
  onStalled: () => void
  stalledMs?: number
}

/** Answers with what a handler gave. */
export async function sendReply(
  request: Request,
  response: Response,
  reply: Reply,
  { keepRoom, onStalled, stalledMs = maxStalledMs }: SendOptions,
): Promise<void> {
  const { status = 200, headers = {}, json, jsonText, etag, stream } = reply
  const sent = response.status(status)
  const allHeaders = { ...headers, ...(etag !== undefined && tagged(etag)) }
  if (etag !== undefined && isKnown(request.headers['if-none-match'], etag)) {
    sent.set(allHeaders).status(304).end()
  } else if (stream !== undefined) {
    leaveWhenStalled(sent, stalledMs, onStalled)
    await sendStream(sent.set(allHeaders).type(stream.contentType), stream.chunks)
  } else if (json === undefined && jsonText === undefined) {
    sent.set(allHeaders).status(204).end()
  } else {
    const text = typeof jsonText === 'function' ? jsonText() : (jsonText ?? JSON.stringify(json))
    const bytes = Buffer.from(text)
    if (bytes.length >= smallBytes) {
      // Before the headers: what it throws is answered without them.
      keepRoom(bytes.length)
      leaveWhenStalled(sent, stalledMs, onStalled)
    }
    sent.set(allHeaders).type('json').send(bytes)
  }
}

/** What one key sees is nobody else's: kept by whoever asked, and asked about each time. */
function tagged(etag: string): Record<string, string> {
  return {
    etag: `"${etag}"`,
    'cache-control': 'private, no-cache',
    vary: 'X-Service-Key, Authorization',
  }
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
    if (clientLeft.has(codeOf(error))) return
    throw new Error(`the answer broke off: ${messageOf(error)}`, { cause: error })
  } finally {
    // Where the client left before the first chunk, pipeline refuses and leaves the source open.
    source.destroy()
  }
}
