import { Agent, ClientRequest, IncomingMessage, OutgoingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'

/** What Node's HTTP objects hold of what was said: clients give them beside the answer, as Axios does, and servers to each handler. */

/**
 * Whether it is what messages go over: an agent, or a socket in a message. Of what passes there only the messages tell, among them those of other
 * calls; and an agent has keys. A socket by itself is a stream like any other.
 */
export function isOfTransport(value: object, above: readonly object[]): boolean {
  return value instanceof Agent || (value instanceof Socket && above.some(isMessage))
}

function isMessage(value: object): boolean {
  return value instanceof IncomingMessage || value instanceof OutgoingMessage
}

/** Whether a request has yet to be answered. */
export function isUnanswered(value: object): boolean {
  return (
    value instanceof ClientRequest &&
    !value.destroyed &&
    !('res' in value && value.res instanceof IncomingMessage)
  )
}

/** Whether somebody had all that a stream had to give, or a request came without a body. */
export function isReadToEnd(value: object): boolean {
  return value instanceof Readable && (value.readableEnded || isWithoutBody(value))
}

/** An answer without these headers has a body all the same, up to the end of its connection (RFC 9112, 6.3). */
function isWithoutBody(value: Readable): boolean {
  if (!(value instanceof IncomingMessage) || value.method == null) return false
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = value.headers
  return Number(length) === 0 && encoding === undefined
}
