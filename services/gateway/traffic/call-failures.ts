import { errors } from 'undici'
import { ProxyFailed } from '#runtime/egress/open-tunnel.ts'
import { AnswerTimeout } from '#runtime/http1/http-connection.ts'
import { CallRefused } from '../budgets/key-answers.ts'
import { TokenUnavailable } from '../upstreams/renewed.ts'
import {
  noMemory,
  proxyFailed,
  requestTooLarge,
  tokenUnavailable,
  tooLargeToSign,
  tooManyWaiting,
  upstreamOpen,
  upstreamTimeout,
  upstreamUnreachable,
  type GatewayAnswer,
} from './gateway-answer.ts'
import { NoMemory, RequestTooLarge, TooLargeToSign } from './request-body.ts'

/** The call exceeded CALL_TIMEOUT_MS. */
export class CallTooLong extends Error {}

/** The wait queue is full. */
export class TooManyWaiting extends Error {}

/** The upstream gave no answers lately (upstreams/breaker.ts). */
export class UpstreamOpen extends Error {}

/** The answer for the application when the provider gave none. */
export function answerForFailure(error: Error): GatewayAnswer {
  if (error instanceof CallRefused) return error.answer
  if (error instanceof TokenUnavailable) return tokenUnavailable
  if (error instanceof TooManyWaiting) return tooManyWaiting
  if (error instanceof UpstreamOpen) return upstreamOpen
  if (error instanceof TooLargeToSign) return tooLargeToSign
  if (error instanceof NoMemory) return noMemory
  if (error instanceof RequestTooLarge) return requestTooLarge
  if (error instanceof ProxyFailed) return proxyFailed(error.message)
  const isTimeout =
    error instanceof CallTooLong ||
    error instanceof AnswerTimeout ||
    error instanceof errors.ConnectTimeoutError
  return isTimeout ? upstreamTimeout : upstreamUnreachable
}
