import type { OutgoingRequest } from './outgoing-call.ts'

/** Characters that no value of a header may have. */
const notInValue = /[^\t -~\u0080-\u00ff]/

/** Whether `value` can be sent in a header as it is. Those of a request that has been read can. */
export function isHeaderValue(value: string): boolean {
  return !notInValue.test(value)
}

interface RequestParts {
  method: string
  /** Path and query as they go out. */
  target: string
  /** The server's name and port. */
  host: string
  /** Names and values in order; those of the connection are not among them. */
  headers: readonly string[]
  body: OutgoingRequest['body']
}

/** A request as it goes over the wire: its headers as they are, with those of the connection to the server before them. */
export function outgoingRequest({ method, target, host, headers, body }: RequestParts): OutgoingRequest {
  let head = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`
  let hasLength = false
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? ''
    head += `${name}: ${headers[at + 1] ?? ''}\r\n`
    hasLength ||= name.length === 14 && name.toLowerCase() === 'content-length'
  }
  const isChunked = body !== null && !Buffer.isBuffer(body) && !hasLength
  if (isChunked) head += 'transfer-encoding: chunked\r\n'
  return { method, head: `${head}\r\n`, body, isChunked }
}
