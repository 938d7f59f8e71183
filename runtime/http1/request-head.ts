import type { OutgoingRequest } from './outgoing-call.ts'

/** Characters that no header value may have. */
const notInValue = /[^\t -~\u0080-\u00ff]/

/** Whether `value` can be sent unchanged in a header. Values of a parsed request can. */
export function isHeaderValue(value: string): boolean {
  return !notInValue.test(value)
}

interface RequestParts {
  method: string
  /** Path and query, as sent. */
  target: string
  /** The server's name and port. */
  host: string
  /** Names and values in order, without connection headers. */
  headers: readonly string[]
  body: OutgoingRequest['body']
}

/** A request for the wire: connection headers first, then its own, unchanged. */
export function outgoingRequest({ method, target, host, headers, body }: RequestParts): OutgoingRequest {
  let head = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`
  let hasLength = false
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? ''
    head += `${name}: ${headers[at + 1] ?? ''}\r\n`
    hasLength ||= name.length === 14 && name.toLowerCase() === 'content-length'
  }
  const isChunked = body !== null && !Buffer.isBuffer(body) && !hasLength
  // It came in chunks, and is whole now.
  if (Buffer.isBuffer(body) && !hasLength) head += `content-length: ${body.length}\r\n`
  if (isChunked) head += 'transfer-encoding: chunked\r\n'
  return { method, head: `${head}\r\n`, body, isChunked }
}
