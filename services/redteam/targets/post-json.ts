import { performance } from 'node:perf_hooks'
import { Agent, errors, request } from 'undici'
import { codeOf, messageOf } from '#runtime/errors.ts'
import { maxAnswerBytes, type TargetAnswer } from './target.ts'

export interface JsonPost {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

export type PostedAnswer =
  | Extract<TargetAnswer, { kind: 'busy' | 'unreached' }>
  | { kind: 'came'; statusCode: number; text: string; latencyMs: number }
  | { kind: 'broken'; statusCode: number | null; latencyMs: number; error: string }

export interface JsonPoster {
  post(what: JsonPost): Promise<PostedAnswer>
  close(): Promise<void>
}

const longestBusyMs = 300_000
const defaultBusyMs = 2_000

/** POSTs JSON over kept connections. Redirects are not followed: only the named host is attacked. */
export function createJsonPoster(options: { connections: number; timeoutMs: number }): JsonPoster {
  const { connections, timeoutMs } = options
  const agent = new Agent({
    ...{ connections, pipelining: 1, bodyTimeout: timeoutMs, headersTimeout: timeoutMs },
    maxResponseSize: maxAnswerBytes,
  })
  return {
    async post({ url, headers, body }) {
      const startedAt = performance.now()
      const latencyMs = () => Math.round(performance.now() - startedAt)
      let statusCode: number | null = null
      try {
        const answer = await request(url, {
          method: 'POST',
          dispatcher: agent,
          headers: { 'content-type': 'application/json', ...headers },
          body,
          signal: AbortSignal.timeout(timeoutMs),
        })
        statusCode = answer.statusCode
        const text = await answer.body.text()
        if (statusCode === 429 || (statusCode === 503 && answer.headers['retry-after'] !== undefined))
          return { kind: 'busy', retryAfterMs: retryAfterMs(answer.headers['retry-after']) }
        return { kind: 'came', statusCode, text, latencyMs: latencyMs() }
      } catch (error) {
        if (isUnreached(error)) return { kind: 'unreached', error: causeOf(error) }
        return { kind: 'broken', statusCode, latencyMs: latencyMs(), error: causeOf(error) }
      }
    },
    close: () => agent.destroy(),
  }
}

/** Seconds or a date (RFC 9110). A target can hold a run for at most five minutes at a time. */
function retryAfterMs(header: string | string[] | undefined): number {
  const text = Array.isArray(header) ? header[0] : header
  if (text === undefined) return defaultBusyMs
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? defaultBusyMs : Math.min(longestBusyMs, Math.max(0, ms))
}

/** Connection errors: the request was not written. */
const unreachedCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  // No TLS there.
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
])
/** A certificate is checked before anything is written. */
const ofCertificates = /^(CERT_|UNABLE_TO_|SELF_SIGNED_CERT|DEPTH_ZERO_|ERR_TLS_CERT_)/

function isUnreached(error: unknown): boolean {
  const code = causeOf(error)
  return unreachedCodes.has(code) || ofCertificates.test(code)
}

function causeOf(error: unknown): string {
  if (error instanceof errors.ResponseExceededMaxSizeError) return 'ANSWER_TOO_LARGE'
  const code = codeOf(error)
  if (code !== '') return code
  if (error instanceof AggregateError) return causeOf(error.errors[0])
  return error instanceof Error && error.name === 'TimeoutError' ? 'TIMEOUT' : messageOf(error).slice(0, 200)
}
