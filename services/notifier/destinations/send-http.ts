import { Agent, request } from 'undici'
import { describeFailure } from '../sending/describe-failure.ts'
import { createGuardedConnector, type ConnectorOptions } from '../sending/guarded-connector.ts'
import type { Rendered } from './rendered.ts'

/** The answer of a receiver; status null: none came. */
export interface HttpAnswer {
  status: number | null
  /** Why no answer came. */
  error: string | null
  timedOut: boolean
  /** The first 64 KiB. */
  body: Buffer
  retryAfterMs: number | null
}

const maxBody = 65_536
const nothing = Buffer.alloc(0)

export interface HttpSender {
  post(rendered: Rendered): Promise<HttpAnswer>
  close(): Promise<void>
}

/** Posts to checked addresses only. Redirects are answers: a receiver must not send us elsewhere. */
export function createHttpSender(options: ConnectorOptions): HttpSender {
  const agent = new Agent({ connect: createGuardedConnector(options), connections: 8, pipelining: 1 })
  return {
    async post({ url, headers, body }) {
      const signal = AbortSignal.timeout(options.timeoutMs)
      try {
        const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent, signal })
        const read = await readStart(answer.body)
        return {
          status: answer.statusCode,
          error: null,
          timedOut: false,
          body: read,
          retryAfterMs: readRetryAfter(answer.headers['retry-after'], Date.now()),
        }
      } catch (error) {
        const timedOut = signal.aborted
        const reason = timedOut ? `no answer within ${options.timeoutMs / 1_000} s` : describeFailure(error)
        return { status: null, error: reason, timedOut, body: nothing, retryAfterMs: null }
      }
    },
    close: () => agent.close(),
  }
}

async function readStart(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= maxBody) break
  }
  return Buffer.concat(chunks).subarray(0, maxBody)
}

/** RFC 9110, 10.2.3: seconds or a date. Null: absent, past, or neither. */
function readRetryAfter(header: string | string[] | undefined, nowMs: number): number | null {
  const value = Array.isArray(header) ? header[0] : header
  if (value === undefined) return null
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - nowMs
  return ms > 0 ? ms : null
}
