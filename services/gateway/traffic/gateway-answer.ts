import type { ServerResponse } from 'node:http'
import { rawAnswer } from '#runtime/answer-broken-requests.ts'
import { requestIdHeader } from './forwarded-headers.ts'

/** An answer of the gateway itself, in OpenAI's error format. */
export interface GatewayAnswer {
  status: number
  message: string
  type: string
  code: string
  /** Label of a refused call; unset for calls that failed. */
  refusal?: RefusalReason
  retryAfterSeconds?: number
}

/** Why a request was refused. `slow`, `malformed` and `headers` were refused before they became calls. */
export const refusalReasons = [
  'key',
  'target',
  'connections',
  'body',
  'waiting',
  'slow',
  'malformed',
  'headers',
  'expectation',
  'model',
  'rate',
  'budget',
] as const
export type RefusalReason = (typeof refusalReasons)[number]

export const invalidKey: GatewayAnswer = {
  status: 401,
  message:
    'Incorrect API key provided: the gateway accepts its own keys, or those of projects if so configured, one of them, as Authorization: Bearer <key> or in x-api-key, api-key, x-goog-api-key or X-Service-Key.',
  type: 'invalid_request_error',
  code: 'invalid_api_key',
  refusal: 'key',
}
export const keyUnavailable: GatewayAnswer = {
  status: 503,
  message: 'The gateway cannot check the API key at the moment. Try again later.',
  type: 'server_error',
  code: 'key_check_unavailable',
  refusal: 'key',
}
export const badTarget: GatewayAnswer = {
  status: 400,
  message: 'The gateway forwards paths that start with a slash.',
  type: 'invalid_request_error',
  code: 'invalid_path',
  refusal: 'target',
}
export const noTunnel: GatewayAnswer = {
  status: 405,
  message:
    'The gateway does not support CONNECT: use it as the base URL of a client, not as its HTTPS_PROXY.',
  type: 'invalid_request_error',
  code: 'no_tunnel',
  refusal: 'target',
}
export const pathNotForwarded: GatewayAnswer = {
  status: 403,
  message:
    'With a project key the gateway forwards only model calls and GET /v1/models (GATEWAY_FORWARD_OTHER): other projects share the account at the provider.',
  type: 'invalid_request_error',
  code: 'path_not_forwarded',
  refusal: 'target',
}
export const noUpstream: GatewayAnswer = {
  status: 404,
  message: 'The gateway has no upstream for this host name, port and path (UPSTREAMS_FILE).',
  type: 'invalid_request_error',
  code: 'no_upstream',
  refusal: 'target',
}
export const upstreamNotAllowed: GatewayAnswer = {
  status: 403,
  message: 'The project of this key may not call this upstream (UPSTREAMS_FILE).',
  type: 'invalid_request_error',
  code: 'upstream_not_allowed',
  refusal: 'target',
}
/** At once: clients such as Codex then use HTTP instead of trying again. */
export const noWebSocket: GatewayAnswer = {
  status: 426,
  message:
    'The gateway forwards WebSockets of Realtime, Responses and Gemini Live, to upstreams that have them (UPSTREAM_WEBSOCKETS): use HTTP.',
  type: 'invalid_request_error',
  code: 'no_websocket',
  refusal: 'target',
}
export const malformedRequest: GatewayAnswer = {
  status: 400,
  message: 'The request is not well-formed HTTP.',
  type: 'invalid_request_error',
  code: 'malformed_request',
  refusal: 'malformed',
}
export const unknownCoding: GatewayAnswer = {
  status: 501,
  message: 'The gateway supports no transfer coding except chunked.',
  type: 'invalid_request_error',
  code: 'unknown_transfer_coding',
  refusal: 'malformed',
}
export const headersTooLarge: GatewayAnswer = {
  status: 431,
  message: 'The headers of the request are larger than 64 KiB.',
  type: 'invalid_request_error',
  code: 'headers_too_large',
  refusal: 'headers',
}
export const requestTooSlow: GatewayAnswer = {
  status: 408,
  message: 'The request was not received completely in time.',
  type: 'invalid_request_error',
  code: 'request_timeout',
  refusal: 'slow',
}
export const badExpectation: GatewayAnswer = {
  status: 417,
  message: 'The gateway supports no expectation except 100-continue.',
  type: 'invalid_request_error',
  code: 'unknown_expectation',
  refusal: 'expectation',
}
export const requestTooLarge: GatewayAnswer = {
  status: 413,
  message: 'The body of the request is larger than the gateway forwards (REQUEST_MAX_BYTES).',
  type: 'invalid_request_error',
  code: 'request_too_large',
  refusal: 'body',
}
export const tooLargeToSign: GatewayAnswer = {
  status: 413,
  message: 'The body of the request is larger than the 32 MiB that the gateway signs for this upstream.',
  type: 'invalid_request_error',
  code: 'request_too_large',
  refusal: 'body',
}
export const noMemory: GatewayAnswer = {
  status: 503,
  message:
    'The gateway has no memory left for the body that it must sign (CAPTURE_TOTAL_MAX_BYTES). Try again later.',
  type: 'server_error',
  code: 'no_memory',
  refusal: 'waiting',
  retryAfterSeconds: 1,
}
export const tooManyWaiting: GatewayAnswer = {
  status: 503,
  message: 'Too many calls are waiting for a connection to the model provider. Try again later.',
  type: 'server_error',
  code: 'too_many_waiting',
  refusal: 'waiting',
  retryAfterSeconds: 1,
}
export const upstreamUnreachable: GatewayAnswer = {
  status: 502,
  message: 'The gateway could not reach the model provider.',
  type: 'upstream_error',
  code: 'upstream_unreachable',
}
export function proxyFailed(reason: string): GatewayAnswer {
  const message = `The gateway could not reach the model provider: ${reason}.`
  return { ...upstreamUnreachable, message, code: 'egress_proxy_failed' }
}
export const upstreamOpen: GatewayAnswer = {
  status: 503,
  message: 'The model provider has given no answers lately. Try again later.',
  type: 'upstream_error',
  code: 'upstream_open',
  retryAfterSeconds: 1,
}
export const upstreamTimeout: GatewayAnswer = {
  status: 504,
  message: 'The model provider did not answer in time.',
  type: 'upstream_error',
  code: 'upstream_timeout',
}
export const tokenUnavailable: GatewayAnswer = {
  status: 502,
  message: 'The gateway could not get a token for the model provider from the identity provider.',
  type: 'upstream_error',
  code: 'upstream_token_unavailable',
}

export function sendAnswer(response: ServerResponse, answer: GatewayAnswer, requestId: string): void {
  response.writeHead(answer.status, headersOf(answer, requestId))
  response.end(bodyOf(answer))
}

/** The same without a response object; the connection is closed afterwards. */
export function rawText(answer: GatewayAnswer, requestId: string): string {
  return rawAnswer(answer.status, headersOf(answer, requestId), bodyOf(answer))
}

function headersOf(answer: GatewayAnswer, requestId: string): Record<string, string | number> {
  const { retryAfterSeconds: wait } = answer
  return {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(bodyOf(answer)),
    ...(wait === undefined ? {} : { 'Retry-After': wait }),
    // Clients would repeat a call that waiting does not help.
    ...(answer.code === 'key_budget_exceeded' ? { 'x-should-retry': 'false' } : {}),
    // RFC 9110, 15.5.22: a 426 names what the server speaks.
    ...(answer.status === 426 ? { Upgrade: 'HTTP/1.1' } : {}),
    [requestIdHeader]: requestId,
  }
}

function bodyOf({ message, type, code }: GatewayAnswer): string {
  return JSON.stringify({ error: { message, type, param: null, code } })
}

/** The error in the record of an incomplete answer. `own`: what the application received instead. */
export function reasonOf(error: Error, own: GatewayAnswer | null): string {
  if (own === null) return error.message
  return own.message.includes(error.message) ? own.message : `${own.message} (${error.message})`
}
