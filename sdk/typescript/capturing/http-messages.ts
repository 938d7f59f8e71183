import { Agent, ClientRequest, IncomingMessage, OutgoingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'

/**
 * Content of Node's HTTP objects, which clients such as Axios return with an answer, and servers pass to
 * handlers.
 */

/**
 * Whether the object is the transport of messages: an agent, or a socket within a message. It holds keys and
 * state of other calls, and its messages are recorded anyway. A socket by itself is treated as a stream.
 */
export function isOfTransport(value: object, above: readonly object[]): boolean {
  return value instanceof Agent || (value instanceof Socket && above.some(isMessage))
}

function isMessage(value: object): boolean {
  return value instanceof IncomingMessage || value instanceof OutgoingMessage
}

/** Whether a request has no answer yet. */
export function isUnanswered(value: object): boolean {
  return (
    value instanceof ClientRequest &&
    !value.destroyed &&
    !('res' in value && value.res instanceof IncomingMessage)
  )
}

/** Whether a stream was read to its end, or a request has no body. */
export function isReadToEnd(value: object): boolean {
  return value instanceof Readable && (value.readableEnded || isWithoutBody(value))
}

/** Answers without these headers have a body up to the end of the connection (RFC 9112, 6.3). */
function isWithoutBody(value: Readable): boolean {
  if (!(value instanceof IncomingMessage) || value.method == null) return false
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = value.headers
  return Number(length) === 0 && encoding === undefined
}
