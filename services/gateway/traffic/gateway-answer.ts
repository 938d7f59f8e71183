import type { ServerResponse } from 'node:http'
import { requestIdHeader } from './forwarded-headers.ts'

/** An answer of the gateway's own, in the shape that OpenAI's clients understand. */
export interface GatewayAnswer {
  status: number
  message: string
  type: string
  code: string
}

export const invalidKey: GatewayAnswer = {
  status: 401,
  message:
    'Incorrect API key provided: the gateway takes a key of its own, or of a project where it is set up so, as Authorization: Bearer <key>.',
  type: 'invalid_request_error',
  code: 'invalid_api_key',
}
export const keyUnavailable: GatewayAnswer = {
  status: 503,
  message: 'The gateway cannot check the API key now. Try again later.',
  type: 'server_error',
  code: 'key_check_unavailable',
}
export const badTarget: GatewayAnswer = {
  status: 400,
  message: 'The gateway forwards paths that start with a slash.',
  type: 'invalid_request_error',
  code: 'invalid_path',
}
export const upstreamUnreachable: GatewayAnswer = {
  status: 502,
  message: 'The gateway could not reach the model provider.',
  type: 'upstream_error',
  code: 'upstream_unreachable',
}
export const upstreamTimeout: GatewayAnswer = {
  status: 504,
  message: 'The model provider did not answer in time.',
  type: 'upstream_error',
  code: 'upstream_timeout',
}
export const tokenUnavailable: GatewayAnswer = {
  status: 502,
  message: 'The gateway has no token for the model provider: the identity provider gives none.',
  type: 'upstream_error',
  code: 'upstream_token_unavailable',
}

/** Ends `response` with it. */
export function sendAnswer(response: ServerResponse, answer: GatewayAnswer, requestId: string): void {
  const { status, message, type, code } = answer
  const body = JSON.stringify({ error: { message, type, param: null, code } })
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    [requestIdHeader]: requestId,
  })
  response.end(body)
}

/** Why there is no whole answer, for whoever looks at the record. `own`: what the application got instead. */
export function reasonOf(error: Error, own: GatewayAnswer | null): string {
  return own === null ? error.message : `${own.message} (${error.message})`
}
