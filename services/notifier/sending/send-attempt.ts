import { isHeaderValue, outgoingRequest } from '#runtime/http1/request-head.ts'
import { refuseUrl, type OutboundPolicy } from '#runtime/outbound-address.ts'
import type { ResolveHost } from '#runtime/resolve-host.ts'
import { describeFailure } from './describe-failure.ts'
import { createGuardedConnector, type ConnectorOptions } from './guarded-connector.ts'
import { AnswerReader, AnswerTimedOut, type Answer } from './read-answer.ts'
import { createReceiverConnections } from './receiver-connections.ts'

export interface AttemptResult {
  statusCode: number | null
  durationMs: number
  /** Null: delivered. */
  error: string | null
  /** Up to 2 kB of the answer's body. */
  excerpt: Buffer | null
  timedOut: boolean
}

export interface SignedMessage {
  url: string
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** Whether its endpoint is known to be quick. */
  isQuick: boolean
}

export interface Sender {
  /**
   * Posts exactly these bytes. A failure is a result; it comes before this returns if nothing can be sent.
   */
  send(message: SignedMessage, onResult: (result: AttemptResult) => void): void
  close(): Promise<void>
}

export interface SenderOptions extends Pick<ConnectorOptions, 'egress'> {
  policy: OutboundPolicy
  ca?: string | undefined
  resolveHost: ResolveHost
  /** For everything up to the status line of the answer: resolving, connecting, TLS, sending. */
  timeoutMs: number
  /** Limit of open connections, and of attempts at the same time. */
  maxConnections: number
}

/** Limits after the status line, which has decided the attempt. */
const rest = { excerptBytes: 2_048, maxBytes: 65_536, restMs: 1_000 }

export function createSender(options: SenderOptions): Sender {
  const { timeoutMs } = options
  const connect = createGuardedConnector(options)
  const connections = createReceiverConnections({ connect, maxOpen: options.maxConnections })
  const readTarget = createReadTarget(options.policy)
  const limits = { ...rest, timeoutMs }
  return {
    send({ url, headers: given, body, isQuick }, onResult) {
      const target = readTarget(url)
      const headers = fieldsOf(given, body.length)
      if (target.refusal !== undefined || headers === undefined) {
        const reason =
          target.refusal === undefined ? 'a header cannot be sent as it is' : `the URL ${target.refusal}`
        onResult(failed(reason, 0))
        return
      }
      const { host, path } = target
      const request = outgoingRequest({ method: 'POST', target: path, host, headers, body })
      const reader = new AnswerReader(limits, (answer) => onResult(resultOf(answer, timeoutMs)))
      reader.begun(connections.send({ origin: target.origin, isQuick }, request, reader))
    },
    close: () => connections.close(),
  }
}

type Target = { refusal: string } | { refusal?: never; origin: string; host: string; path: string }

/** A few hundred bytes each. Beyond the limit the oldest is parsed again when needed. */
const maxTargets = 10_000

/** Parses each URL once: parsing it for every attempt took 3 % of an attempt's processor time. */
function createReadTarget(policy: OutboundPolicy): (url: string) => Target {
  const kept = new Map<string, Target>()
  const read = (url: string): Target => {
    const refusal = refuseUrl(url, policy)
    if (refusal !== undefined) return { refusal }
    const { origin, host, pathname, search } = new URL(url)
    return { origin, host, path: pathname + search }
  }
  return (url) => {
    const known = kept.get(url)
    if (known !== undefined) return known
    const target = read(url)
    const [oldest] = kept.keys()
    if (kept.size >= maxTargets && oldest !== undefined) kept.delete(oldest)
    kept.set(url, target)
    return target
  }
}

/** Names and values in order. Undefined: a line break in a value would add a header. */
function fieldsOf(headers: Readonly<Record<string, string>>, bodyBytes: number): string[] | undefined {
  const fields: string[] = []
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (!isHeaderValue(value)) return undefined
    fields.push(name, value)
  }
  fields.push('content-length', String(bodyBytes))
  return fields
}

function resultOf({ status, error, durationMs, excerpt }: Answer, timeoutMs: number): AttemptResult {
  if (error instanceof AnswerTimedOut) {
    return { ...failed(`no answer within ${timeoutMs / 1_000} s`, durationMs), timedOut: true }
  }
  if (status === null) return failed(describeFailure(error), durationMs)
  const isDelivered = status >= 200 && status < 300
  const refusal = isDelivered ? null : `the receiver answered ${status}`
  return { statusCode: status, durationMs, error: refusal, excerpt, timedOut: false }
}

/** The result of an attempt without an answer. */
export function failed(error: string, durationMs: number): AttemptResult {
  return { statusCode: null, durationMs, error, excerpt: null, timedOut: false }
}
