import { Agent, request, type Dispatcher } from 'undici'
import { refuseUrl, type OutboundPolicy } from '#runtime/outbound-address.ts'
import { describeFailure } from './describe-failure.ts'
import { createGuardedConnector, type ResolveHost } from './guarded-connector.ts'

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
  /** For everything up to the status line and headers of the answer: resolving, connecting, TLS, sending. */
  timeoutMs: number
}

const excerptBytes = 2_048
/** An answer up to here is read to its end, so that its connection serves again; a longer one is cut off. */
const maxAnswerBytes = 65_536
/** The status has decided by then: the rest of the answer may not hold up what follows. */
const excerptWaitMs = 1_000

export function createSender(options: SenderOptions): Sender {
  const agent = new Agent({
    connect: createGuardedConnector({ ...options, ca: options.ca }),
    pipelining: 1,
    // One timer covers all of it (below).
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
  })
  return {
    send: (url, headers, body) => send(agent, options, { url, headers, body }),
    close: () => agent.destroy(),
  }
}

interface Post {
  url: string
  headers: Readonly<Record<string, string>>
  body: Buffer
}

async function send(
  agent: Agent,
  { policy, timeoutMs }: SenderOptions,
  { url, headers, body }: Post,
): Promise<AttemptResult> {
  const startedAt = performance.now()
  const elapsed = () => Math.round((performance.now() - startedAt) * 1_000) / 1_000
  const failed = (error: string, timedOut = false) => ({
    statusCode: null,
    durationMs: elapsed(),
    error,
    excerpt: null,
    timedOut,
  })
  const refusal = refuseUrl(url, policy)
  if (refusal !== undefined) return failed(`the URL ${refusal}`)
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), timeoutMs)
  try {
    const answer = await request(url, {
      dispatcher: agent,
      method: 'POST',
      headers,
      body,
      signal: limit.signal,
    })
    const durationMs = elapsed()
    clearTimeout(timer)
    const excerpt = await readExcerpt(answer.body)
    const delivered = answer.statusCode >= 200 && answer.statusCode < 300
    const error = delivered ? null : `the receiver answered ${answer.statusCode}`
    return { statusCode: answer.statusCode, durationMs, error, excerpt, timedOut: false }
  } catch (error) {
    if (limit.signal.aborted) return failed(`no answer within ${timeoutMs / 1_000} s`, true)
    return failed(describeFailure(error))
  } finally {
    clearTimeout(timer)
  }
}

async function readExcerpt(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(() => body.destroy(), excerptWaitMs)
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (bytes < excerptBytes) chunks.push(chunk)
      bytes += chunk.length
      if (bytes > maxAnswerBytes) break
    }
  } catch {
    // Best effort: the status line has decided, and what came until the connection broke is what there is to show.
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
  return Buffer.concat(chunks).subarray(0, excerptBytes)
}
