import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { sealedIdentity, type SealedBytes } from '#schemas/sealed-bytes.ts'
import type { CallBodies } from './read-bodies.ts'

/** What is published of a call, and where. */
export interface OutgoingCall {
  /** For the topic that is kept. */
  logged: LoggedCall
  /** For the topic that keeps nothing; null: nothing. */
  ephemeral: LoggedCall | null
}

/**
 * Content that must not be kept goes only where nothing is kept; the row of the call goes where all rows go. Bodies that were erased on
 * the way were of a project that keeps none.
 */
export function outgoingCall(
  call: LoggedCall,
  { requestBody, responseBody }: CallBodies,
  seal: (bytes: Buffer, identity: string) => SealedBytes,
): OutgoingCall {
  if (requestBody === null) return { logged: { ...call, zero_content_retention: true }, ephemeral: null }
  const sealed = (bytes: Buffer, part: 'request_body' | 'response_body') =>
    seal(bytes, sealedIdentity(call.project_id, call.id, part))
  const whole: LoggedCall = {
    ...call,
    request_body: sealed(requestBody, 'request_body'),
    response_body: responseBody === null ? null : sealed(responseBody, 'response_body'),
  }
  return call.zero_content_retention ? { logged: call, ephemeral: whole } : { logged: whole, ephemeral: null }
}
