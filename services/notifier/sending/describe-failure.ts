import { codeOf, messageOf } from '#runtime/errors.ts'
import { ProxyFailed } from '#runtime/egress/open-tunnel.ts'
import { HeadTooLarge, MalformedAnswer } from '#runtime/http1/answer-head.ts'
import { ConnectionClosed } from '#runtime/http1/http-connection.ts'
import { AddressRefused } from './guarded-connector.ts'

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  ENOTFOUND: 'the host name does not resolve',
  ENODATA: 'the host name does not resolve',
  ESERVFAIL: 'the host name does not resolve: its name server fails',
  ETIMEOUT: 'the host name does not resolve: its name server does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
}
const maxLength = 300

/** Why an attempt failed, for the webhook's owner. Without addresses: they may be of our own network. */
export function describeFailure(error: unknown): string {
  if (error instanceof AddressRefused) return error.message
  if (error instanceof ProxyFailed) return error.reason
  if (error instanceof ConnectionClosed) return 'the connection was closed before an answer'
  if (error instanceof HeadTooLarge) return 'the headers of the answer are too large'
  if (error instanceof MalformedAnswer) return 'the answer is not HTTP'
  const code = firstCodeOf(error)
  const reason = reasons[code]
  if (reason !== undefined) return reason
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY|EPROTO/.test(code))
    return `TLS: ${messageOf(error)}`.slice(0, maxLength)
  return code === '' ? 'the request failed' : `the request failed (${code})`
}

/** A host with several addresses fails with one error for each, and the first is typical. */
function firstCodeOf(error: unknown): string {
  const code = codeOf(error)
  return code === '' && error instanceof AggregateError ? firstCodeOf(error.errors[0]) : code
}
