import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Why bytes are not a request: no HTTP, headers beyond the limit, or no whole request in time. */
export type BrokenRequest = 'malformed' | 'headers' | 'slow'

/** Closing a socket with unread bytes resets it, and the peer may lose its answers. */
const lingerMs = 1_000

/**
 * Answers what a server's parser or time limit refuses with `answerTo` (see `rawAnswer`), and closes the
 * connection. Node's own answers have no body. Earlier whole requests, which have been acted on, are answered
 * first. `events` are those by which the server passes on requests.
 */
export function answerBrokenRequests(
  server: Server,
  events: readonly string[],
  answerTo: (fault: BrokenRequest) => string,
): void {
  /**
   * Unfinished answers of each connection, oldest first, also those given before the whole request arrived.
   */
  const answers = new WeakMap<Duplex, ServerResponse[]>()
  const closing = new WeakSet<Duplex>()
  const remember = ({ socket }: IncomingMessage, response: ServerResponse) => {
    const open = answers.get(socket)
    if (open === undefined) answers.set(socket, [response])
    else open.push(response)
    response.once('close', () => forget(answers.get(socket) ?? [], response))
  }
  for (const event of events) server.prependListener(event, remember)
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Duplex) => {
    const fault = faultOf(code)
    if (fault === undefined) socket.destroy()
    // The parser repeats the error for everything that follows.
    if (fault === undefined || closing.has(socket)) return
    closing.add(socket)
    const text = answerTo(fault)
    const open = answers.get(socket) ?? []
    const close = () => {
      // Nothing is added to an answer that has begun, or that was given before the whole body arrived.
      if (open.at(-1)?.headersSent !== true && socket.writable) socket.write(text)
      socket.end()
      setTimeout(() => socket.destroy(), lingerMs).unref()
    }
    const owed = open.findLast(({ req, writableFinished }) => req.complete && !writableFinished)
    if (owed === undefined) close()
    else owed.once('close', close)
  })
}

/** Bytes after a whole request belong to the next one. */
function forget(open: ServerResponse[], response: ServerResponse): void {
  if (response.req.complete) open.splice(open.indexOf(response), 1)
}

/** Why a request is refused that Node's parser accepts: servers disagree about its end or its host. */
export function ambiguityOf({ httpVersion, headers, rawHeaders }: IncomingMessage): string | undefined {
  const isOld = httpVersion === '1.0'
  if (!isOld && httpVersion !== '1.1') return 'the version is neither HTTP/1.1 nor HTTP/1.0'
  if (isOld && headers['transfer-encoding'] !== undefined) return 'HTTP/1.0 has no Transfer-Encoding'
  const { host } = headers
  if (host === undefined) return isOld ? undefined : 'the request names no Host, as HTTP/1.1 asks'
  // Node keeps the first of several.
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts > 1) return 'the request has more than one Host header'
  return hostPattern.test(host) ? undefined : 'the Host header is not a host'
}

/** The characters of a host and port in RFC 3986. */
const hostPattern = /^[\w.~%!$&'()*+,;=:[\]-]*$/

/** From the codes of Node's server and parser (`HPE_…`); undefined: the connection broke. */
function faultOf(code: string): BrokenRequest | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers'
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'slow'
  return code.startsWith('HPE_') && code !== 'HPE_INVALID_EOF_STATE' ? 'malformed' : undefined
}

/** The text of an answer after which the connection closes. */
export function rawAnswer(
  status: number,
  headers: Readonly<Record<string, string | number>>,
  body: string,
): string {
  const fields = { Connection: 'close', ...headers }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`
}
