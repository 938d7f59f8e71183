import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** What came in place of a request: no HTTP, headers beyond the server's limit, or less than a request in its time. */
export type BrokenRequest = 'malformed' | 'headers' | 'slow'

/**
 * Answers what the parser or a time limit of a server refuses and never becomes a request with what `answerTo` gives (`rawAnswer`), where Node's
 * own answers have no body, and closes the connection. `events` are those that the server hands requests to somebody by.
 */
export function answerBrokenRequests(
  server: Server,
  events: readonly string[],
  answerTo: (fault: BrokenRequest) => string,
): void {
  const latest = new WeakMap<Duplex, ServerResponse>()
  const remember = (request: IncomingMessage, response: ServerResponse) => {
    latest.set(request.socket, response)
  }
  for (const event of events) server.prependListener(event, remember)
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Duplex) => {
    const response = latest.get(socket)
    // Nothing is added to an answer that has begun, or that was given before the body had come.
    const isAnswering =
      response?.headersSent === true && !(response.writableFinished && response.req.complete)
    const fault = faultOf(code)
    const answer = fault === undefined ? undefined : answerTo(fault)
    if (answer !== undefined && socket.writable && !isAnswering) socket.write(answer)
    socket.destroy()
  })
}

/** By what Node's server and its parser (`HPE_…`) say; undefined where it was the connection that broke. */
function faultOf(code: string): BrokenRequest | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers'
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'slow'
  return code.startsWith('HPE_') && code !== 'HPE_INVALID_EOF_STATE' ? 'malformed' : undefined
}

/** The text of an answer behind which its connection is closed. */
export function rawAnswer(
  status: number,
  headers: Readonly<Record<string, string | number>>,
  body: string,
): string {
  const fields = { Connection: 'close', ...headers }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`
}
