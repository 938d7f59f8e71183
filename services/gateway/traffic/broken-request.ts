import type { Duplex } from 'node:stream'
import {
  headersTooLarge,
  malformedRequest,
  rawAnswer,
  requestTooSlow,
  type GatewayAnswer,
  type RefusalReason,
} from './gateway-answer.ts'

/** Of Node's server and its parser, whose other codes (`HPE_…`) are of requests that are not HTTP. */
const answers = new Map<string, GatewayAnswer | undefined>([
  ['HPE_HEADER_OVERFLOW', headersTooLarge],
  ['ERR_HTTP_REQUEST_TIMEOUT', requestTooSlow],
  // The application went within its request.
  ['HPE_INVALID_EOF_STATE', undefined],
])

/**
 * Answers what came in place of a request, and closes the connection. Where an answer has begun (`isAnswering`) nothing is added
 * to it. Gives the reason to count, or undefined when it was only the connection that broke.
 */
export function answerBrokenRequest(
  { code = '' }: NodeJS.ErrnoException,
  socket: Duplex,
  isAnswering: boolean,
  requestId: string,
): RefusalReason | undefined {
  const isMalformed = code.startsWith('HPE_') && !answers.has(code)
  const answer = isMalformed ? malformedRequest : answers.get(code)
  if (answer !== undefined && socket.writable && !isAnswering) socket.write(rawAnswer(answer, requestId))
  socket.destroy()
  return answer?.refusal
}
