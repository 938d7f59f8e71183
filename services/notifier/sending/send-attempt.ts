import { Agent } from 'undici'
import type { OutboundPolicy } from '#runtime/outbound-address.ts'
import { describeFailure } from './describe-failure.ts'
import { createGuardedConnector, type ResolveHost } from './guarded-connector.ts'
import { AnswerReader, AnswerTimedOut, type Answer } from './read-answer.ts'
import { createReadTarget } from './read-target.ts'
import { createStatusWatch, type StatusWatch } from './watch-status.ts'

export interface AttemptResult {
  statusCode: number | null
  durationMs: number
  /** Null: delivered. */
  error: string | null
  /** The first 2 kB of the answer's body, as far as they came. */
  excerpt: Buffer | null
  timedOut: boolean
}

export interface Sender {
  /** Posts exactly these bytes. Never rejects: a failure is a result. */
  send(url: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<AttemptResult>
  close(): Promise<void>
}

export interface SenderOptions {
  policy: OutboundPolicy
  ca?: string | undefined
  resolveHost: ResolveHost
  /** For everything up to the status line of the answer: resolving, connecting, TLS, sending. */
  timeoutMs: number
}

/** What is kept of an answer, and how long its rest may take: the status has decided by then. */
const rest = { excerptBytes: 2_048, maxBytes: 65_536, restMs: 1_000 }

export function createSender(options: SenderOptions): Sender {
  const agent = new Agent({
    connect: createGuardedConnector({ ...options, ca: options.ca }),
    pipelining: 1,
    // One timer covers all of it (read-answer.ts).
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
  })
  const watch = createStatusWatch()
  const readTarget = createReadTarget(options.policy)
  return {
    async send(url, headers, body) {
      const target = readTarget(url)
      if (target.refusal !== undefined) return failed(`the URL ${target.refusal}`, 0)
      const answer = await post(agent, watch, options.timeoutMs, { ...target, headers, body })
      return resultOf(answer, options.timeoutMs)
    },
    async close() {
      await agent.destroy()
      watch.close()
    },
  }
}

interface Post {
  origin: string
  path: string
  headers: Readonly<Record<string, string>>
  body: Buffer
}

function post(
  agent: Agent,
  watch: StatusWatch,
  timeoutMs: number,
  { body, ...request }: Post,
): Promise<Answer> {
  const reader = new AnswerReader({ ...rest, timeoutMs })
  // The same bytes, and an object that no other request has.
  const own = body.subarray()
  watch.add(own, (status) => reader.decide(status))
  try {
    agent.dispatch({ ...request, method: 'POST', body: own }, reader)
  } catch (error) {
    reader.fail(error instanceof Error ? error : new Error(String(error)))
  }
  return reader.answer
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

function failed(error: string, durationMs: number): AttemptResult {
  return { statusCode: null, durationMs, error, excerpt: null, timedOut: false }
}
